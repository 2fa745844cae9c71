package answers

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/domain/text"
)

// query is a question as the extractive answer sees it.
type query struct {
	terms    []string // stems that a sentence can match, each once
	hints    []string // stems that the answer is likely to hold, no match by themselves
	number   bool     // asks for a year, a count or a measure
	overview bool     // asks what the page is about, and nothing else
}

// maxTerms bounds the work for a question that is a whole text.
const maxTerms = 64

func parseQuery(question string) query {
	folded := text.Fold(text.Truncate(question, MaxQuestion))
	q := query{number: asksNumber(folded), hints: hints(folded)}
	seen := map[string]bool{}
	about := false
	for _, word := range text.Words(chineseStops().Replace(folded)) {
		stem := text.Stem(word)
		if len(q.terms) == maxTerms || seen[stem] || stopWord(word) {
			continue
		}
		seen[stem] = true
		if overviewWord(word) {
			about = true
		}
		q.terms = append(q.terms, stem)
	}
	if asksOverview(folded) || about && allOverview(q.terms) {
		q.terms, q.overview = nil, true
	}
	return q
}

// words is how many words the terms come from: two pairs of characters are
// about one.
func (q query) words() int {
	pairs := 0
	for _, term := range q.terms {
		if r, _ := utf8.DecodeRuneInString(term); text.IsCJK(r) {
			pairs++
		}
	}
	return len(q.terms) - pairs/2
}

// chineseStops puts blanks in place of question words and particles, so that no
// pair of characters holds half of one. Longer phrases come first, because the
// first match wins. A measure
// such as 多长 leaves its adjective, which the answer will hold.
func chineseStops() *strings.Replacer {
	var pairs []string
	for _, adjective := range []string{"长", "高", "宽", "重", "远", "深"} {
		pairs = append(pairs, "有多"+adjective, " "+adjective+" ", "多"+adjective, " "+adjective+" ")
	}
	for stop := range strings.FieldsSeq(`
		什么时候 什麼時候 为什么 為什麼 有没有 怎么样 怎麼樣 哪一年 哪一个 哪一天 是不是 能不能 可不可以
		什么 什麼 怎么 怎麼 如何 多少 多久 多大 何时 何時 哪里 哪裡 哪儿 哪个 哪些 哪年 几个 几年 几点 是否 告诉 介绍 关于 请问 一下 可以 能否 有谁
		这个 那个 这些 那些 这座 那座 这家 这篇 这本 这款 这种 我们 你们 他们 它们
		的 了 吗 嗎 呢 吧 啊 呀 是 在 这 這 那 哪 它 他 她 谁 誰 我 你 请 几 被`) {
		pairs = append(pairs, stop, " ")
	}
	return strings.NewReplacer(pairs...)
}

// hints gives words that an answer is likely to hold, because it often names the
// kind of thing that was asked for.
func hints(folded string) []string {
	var out []string
	add := func(words string) {
		for _, w := range text.Words(words) {
			out = append(out, text.Stem(w))
		}
	}
	for _, w := range text.Words(folded) {
		switch w {
		case "when":
			add("date time")
		case "where":
			add("location located address place")
		case "much":
			add("price cost fee")
		}
	}
	for _, h := range [][2]string{{"时候", "时间 日期"}, {"何时", "时间 日期"}, {"哪", "地点 地址 位于"}, {"多少钱", "价格 售价 费用"}, {"谁", "姓名"}} {
		if strings.Contains(folded, h[0]) {
			add(h[1])
		}
	}
	return out
}

func asksNumber(folded string) bool {
	for _, w := range text.Words(folded) {
		switch w {
		case "when", "year", "date", "many", "much", "long", "tall", "high", "deep", "wide", "far", "old", "big", "fast",
			"cost", "costs", "price", "number", "age", "percent", "percentage":
			return true
		}
	}
	for phrase := range strings.FieldsSeq("什么时候 何时 哪一年 哪年 哪一天 几 多少 多长 多高 多宽 多重 多远 多深 多久 多大 时间 年份 价格") {
		if strings.Contains(folded, phrase) {
			return true
		}
	}
	return false
}

// asksOverview reports whether the question is one such as "who is she?" or "what
// is this?", which has no word to look for in the page.
func asksOverview(folded string) bool {
	words := text.Words(folded)
	if len(words) > 1 && len(words) < 4 && (words[0] == "what" || words[0] == "who") {
		switch words[len(words)-1] {
		case "this", "that", "it", "he", "she", "they":
			return true
		}
	}
	return containsAny(folded, "tl;dr", "这是什么", "他是谁", "她是谁") ||
		containsAny(folded, "讲了什么", "讲什么", "说了什么") && containsAny(folded, "这", "本文", "文章", "网页", "页面")
}

func containsAny(s string, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(s, p) })
}

func overviewWord(word string) bool {
	switch word {
	case "summary", "summarize", "summarise", "summarized", "tldr", "overview", "page", "article", "website", "site", "text",
		"gist", "main", "point", "points", "idea", "topic",
		"总结", "概括", "摘要", "概述", "网页", "页面", "文章", "内容", "主要", "讲", "说":
		return true
	}
	return false
}

func allOverview(stems []string) bool {
	const inPairs = "总结概括摘要概述网页面文章内容主要讲说篇"
	for _, stem := range stems {
		if overviewWord(stem) || overviewWord(stem+"e") || overviewWord(stem+"y") {
			continue
		}
		// A pair may arise where two overview words meet, as 要内 of 主要内容.
		first, _ := utf8.DecodeRuneInString(stem)
		last, _ := utf8.DecodeLastRuneInString(stem)
		if !text.IsCJK(first) || !strings.ContainsRune(inPairs, first) || !strings.ContainsRune(inPairs, last) {
			return false
		}
	}
	return true
}

// stopWord reports whether a word says nothing about what is asked: English stop
// words, and Japanese words of hiragana alone, which are mostly grammar.
func stopWord(word string) bool {
	if strings.IndexFunc(word, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) }) < 0 {
		return true
	}
	switch word {
	case "a", "an", "the", "this", "that", "these", "those", "it", "its", "he", "she", "they", "them", "him", "his", "her",
		"hers", "their", "theirs", "we", "us", "our", "you", "your", "i", "me", "my", "one",
		"when", "who", "whom", "whose", "what", "where", "why", "how", "which", "many", "much",
		"do", "does", "did", "done", "is", "are", "was", "were", "be", "been", "being", "am", "has", "have", "had", "having",
		"can", "could", "will", "would", "shall", "should", "may", "might", "must",
		"of", "in", "on", "at", "to", "for", "from", "by", "with", "about", "into", "over", "under", "between", "during",
		"as", "than", "out", "up", "off", "per", "via", "through",
		"and", "or", "but", "if", "then", "so", "not", "no", "nor", "yes", "there", "here", "also", "any", "some", "just",
		"please", "tell", "explain", "describe", "say", "says", "said", "give", "show", "know", "let", "get", "got",
		"s", "t", "d", "m", "ll", "re", "ve", "don", "doesn", "didn", "isn", "aren", "wasn", "weren", "hasn", "haven":
		return true
	}
	return false
}
