package answers

import (
	"slices"
	"strings"

	"plexus/domain/text"
)

// excerptQuery is a question as the choice of an excerpt sees it. It may be in any
// language, so that it knows the stop words of more than the extractive answer does.
func excerptQuery(question string) query {
	q := parseQuery(question)
	folded := text.Fold(text.Truncate(question, MaxQuestion))
	words := text.Words(folded)
	if asksForWhole(folded, words) {
		return query{overview: true}
	}
	stops := stopsOf(words)
	q.terms = slices.DeleteFunc(q.terms, func(term string) bool {
		return slices.ContainsFunc(stops, func(stop string) bool { return text.Stem(stop) == term })
	})
	return q
}

// stopsOf gives the stop words of the language that has most of those in words; none
// for English, whose words have been left out. Only one language counts, since "war"
// and "die" are German stop words and no English ones.
func stopsOf(words []string) (stops []string) {
	most := 0
	for _, word := range words {
		if stopWord(word) {
			most++
		}
	}
	for _, list := range []string{
		`aber als am an auf aus bei bitte das dem den der des die dies diese dieser dieses du ein eine einem einen einer eines er erklare es
		fur habe haben hat hatte hatten hier ich ihr im in ist kann kein keine konnen man mit nach nicht oder sag seite sein sich sie sind
		so soll uber um und viel viele vom von vor wann war waren warum was welche welchem welchen welcher welches wem wen wenn wer werden
		wessen wie wieso wir wird wo wurde wurden zu zum zur`,
		`a au aux avec avoir ce cet cette ces chez combien comment dans de des dit du elle elles en est et etaient etait etre fait ici il
		ils je l la le les leur lui mais ne nous on ont ou par pas peut pour pourquoi quand que quel quelle quelles quels qui quoi sans se
		ses son sont sur tu un une vous d qu s t y`,
		`a al aqui como con cual cuales cuando cuanto cuantos de del donde e el ella ellos en era eran es esta estan estas este esto estos
		fue fueron ha han hay la las lo los me mi no o para pero por que quien se ser si sin son su sus te tu un una unas unos y`,
		`a ai al alla anche che chi come con cosa cui da dal de degli dei del della delle dello di dove e era erano essere gli ha hanno i
		il in la le lo ma nel nella non o per perche qual quale quali quando quanto quanti questa queste questi questo se si sono su sul tra
		un una uno`,
		`a ao aos as com como da das de do dos e ela ele em era eram essa esse esta este foi foram ha isso isto mais mas na nao nas no nos o
		onde os ou para pela pelo por porque qual quais quando quanto quantos que quem se sao sem ser seu sua tem um uma`,
		`aan als bij dan dat de deze die dit door een en er geen had hebben heeft het hij hoe hoeveel hun ik in is je kan kunnen maar met
		na naar niet of om ook op over te tot uit van veel voor waar waarom wanneer waren was wat we welke werd werden wie wordt worden
		zijn zij`,
	} {
		ofLanguage, known := strings.Fields(list), 0
		for _, word := range words {
			if slices.Contains(ofLanguage, word) {
				known++
			}
		}
		if known > most {
			stops, most = ofLanguage, known
		}
	}
	return stops
}

// asksForWhole reports whether a question is about a text as a whole: for a summary,
// for what it is about, or for a translation.
func asksForWhole(folded string, words []string) bool {
	if containsAny(folded,
		"summar", "overview", "key point", "main point", "main idea", "takeaway", "outline", "translate",
		"what is this page", "what is this article", "what is this text", "what is the page about", "what is the article about",
		"zusammenfass", "uberblick", "worum geht", "ubersetz",
		"resume cet", "resume la", "resume l'", "resumer", "resume le", "resume esta", "resume este", "resumen", "resumo", "resumir",
		"synthese", "apercu", "de quoi parle", "de quoi s'agit", "tradui",
		"de que trata", "sintesis", "traduc", "do que trata", "traduz",
		"riassu", "sintesi", "di cosa parla", "di cosa tratta",
		"samenvat", "waar gaat", "vertaal",
		"总结", "總結", "概括", "概述", "概要", "摘要", "综述", "归纳", "简述", "大意", "要点", "主要内容", "主旨", "讲了什么", "讲的是什么",
		"说了什么", "说的是什么", "什么内容", "翻译", "翻譯",
		"要約", "まとめ", "翻訳", "요약", "개요", "번역",
		"кратко", "резюм", "перевед", "о чем",
		"لخص", "ملخص", "تلخيص", "ترجم", "סכם", "סיכום", "תקציר", "תרגם") {
		return true
	}
	has := func(word string) bool { return slices.Contains(words, word) }
	return has("gist") || has("tldr") || has("zusammen") && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "fass") })
}
