// Package answers decides what an answer says: the fixed sentences, the merged
// list of results, the extractive answer and the prompt of a model. It is pure.
package answers

import "strings"

// Language is the language of the fixed sentences. The zero value is English.
type Language string

// The languages that the fixed sentences exist in.
const (
	English Language = "en"
	Chinese Language = "zh-CN"
)

// NoticeKind names one of the fixed sentences.
type NoticeKind uint8

// The fixed sentences, one for each way an answer can fail.
const (
	SearchFailed NoticeKind = iota + 1 // the search service failed, and nothing else could answer
	NothingFound                       // no sentence matches the question
	ModelFailed                        // the model did not answer
	ModelEmpty                         // it ended without text
	Interrupted                        // the stream broke off
	Cut                                // the model's limit of tokens was reached
	Filtered                           // a filter of the model's service stopped it
	Refused                            // the model will not answer
)

// NoticeKinds lists every kind, for tables and their tests.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{SearchFailed, NothingFound, ModelFailed, ModelEmpty, Interrupted, Cut, Filtered, Refused}
}

// Unfinished reports whether the text before the sentence is no complete answer.
func (k NoticeKind) Unfinished() bool {
	return k == Interrupted || k == Cut || k == Filtered || k == Refused
}

// Notice gives the fixed sentence in square brackets; "" for an unknown kind.
func Notice(kind NoticeKind, lang Language) string {
	english, chinese := notice(kind)
	if lang == Chinese {
		return chinese
	}
	return english
}

func notice(kind NoticeKind) (english, chinese string) {
	switch kind {
	case SearchFailed:
		return "[The search service did not answer.]", "[搜索服务没有应答。]"
	case NothingFound:
		return "[Nothing found. Open a page and ask about it, or set a search service.]",
			"[没有找到内容。请打开一个网页再提问，或设置搜索服务。]"
	case ModelFailed:
		return "[The model did not answer.]", "[模型没有应答。]"
	case ModelEmpty:
		return "[The model gave no answer.]", "[模型没有给出回答。]"
	case Interrupted:
		return "[The answer was interrupted.]", "[回答中断了。]"
	case Cut:
		return "[The answer was cut at the model's limit.]", "[回答因达到模型的长度上限而被截断。]"
	case Filtered:
		return "[A filter of the model's service stopped the answer.]", "[模型服务的内容过滤中止了回答。]"
	case Refused:
		return "[The model refused to answer.]", "[模型拒绝回答。]"
	}
	return "", ""
}

// IsNotice reports whether the text of a final token is nothing but a fixed
// sentence, in any language, and which.
func IsNotice(final string) (NoticeKind, bool) {
	final = strings.TrimSpace(final)
	for _, kind := range NoticeKinds() {
		english, chinese := notice(kind)
		if final == english || final == chinese {
			return kind, true
		}
	}
	return 0, false
}
