package text

import "strings"

// Stem folds the common English endings of a word that Words gave, so that
// open, opens, opened and opening compare as one. It is coarse: what it gives is
// for comparison only and need not be a word. Words in other scripts, and short
// ones, come back unchanged.
func Stem(word string) string {
	if base := irregular(word); base != "" {
		word = base
	}
	if len(word) < 4 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return word
	}
	word = stripPlural(word)
	word = stripVerb(word)
	word = stripNoun(word)
	if len(word) > 3 && strings.HasSuffix(word, "e") {
		word = word[:len(word)-1]
	}
	return word
}

// Stems gives the stems of the words of s in order.
func Stems(s string) []string {
	words := Words(s)
	for i, w := range words {
		words[i] = Stem(w)
	}
	return words
}

func stripPlural(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

func stripVerb(w string) string {
	if base, ok := strings.CutSuffix(w, "ied"); ok && len(base) > 1 {
		return base + "y"
	} else if ok {
		return base + "ie"
	}
	if strings.HasSuffix(w, "eed") {
		return w
	}
	for _, ending := range []string{"ing", "ed"} {
		if base, ok := strings.CutSuffix(w, ending); ok && len(base) >= 3 && strings.ContainsAny(base, "aeiouy") {
			return undouble(base)
		}
	}
	return w
}

// undouble: stopped → stop, but installed → install.
func undouble(w string) string {
	last := w[len(w)-1]
	if w[len(w)-2] == last && !strings.ContainsRune("aeioulsz", rune(last)) {
		return w[:len(w)-1]
	}
	return w
}

func stripNoun(w string) string {
	for _, ending := range []string{"ation", "ion", "ment"} {
		if base, ok := strings.CutSuffix(w, ending); ok && len(base) >= 5 {
			return base
		}
	}
	if base, ok := strings.CutSuffix(w, "ly"); ok && len(base) >= 4 {
		return base
	}
	return w
}

// irregular gives the base form of the irregular past forms that questions about
// a page run into most; "" for any other word.
func irregular(w string) string {
	switch w {
	case "began", "begun":
		return "begin"
	case "built":
		return "build"
	case "wrote", "written":
		return "write"
	case "made":
		return "make"
	case "won":
		return "win"
	case "held":
		return "hold"
	case "led":
		return "lead"
	case "sold":
		return "sell"
	case "bought":
		return "buy"
	case "paid":
		return "pay"
	case "sent":
		return "send"
	case "gave", "given":
		return "give"
	case "took", "taken":
		return "take"
	case "grew", "grown":
		return "grow"
	case "became":
		return "become"
	case "found":
		return "find"
	case "spent":
		return "spend"
	case "lost":
		return "lose"
	case "rose", "risen":
		return "rise"
	case "fell", "fallen":
		return "fall"
	case "chose", "chosen":
		return "choose"
	case "ran":
		return "run"
	case "dying", "death", "dead":
		return "die"
	case "taught":
		return "teach"
	case "spoke", "spoken":
		return "speak"
	case "thought":
		return "think"
	case "born":
		return "birth"
	}
	return ""
}
