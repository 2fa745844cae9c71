package localmodel

import (
	"testing"
)

func TestAppendUnquoted(t *testing.T) {
	tests := []struct{ literal, want string }{
		{`""`, ""},
		{`"plain é 你"`, "plain é 你"},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{`"\u0041\u00e9\u4f60"`, "Aé你"},
		{`"\ud83c\udf0d"`, "\xed\xa0\xbc\xed\xbc\x8d"},
		{"\"\xe4\xbd\"", "\xe4\xbd"},
	}
	for _, tt := range tests {
		if got := string(appendUnquoted(nil, []byte(tt.literal))); got != tt.want {
			t.Errorf("%s: got %q; want %q", tt.literal, got, tt.want)
		}
	}
}

func TestJoiner(t *testing.T) {
	const high, low = "\xed\xa0\xbc", "\xed\xbc\x8d" // the halves of 🌍
	tests := []struct {
		name   string
		pieces []string
		want   string
	}{
		{"pair in one piece", []string{high + low}, "🌍"},
		{"pair over two pieces", []string{"a" + high, low + "b"}, "a🌍b"},
		{"pair byte by byte", bytewise(high + low + "x"), "🌍x"},
		{"runes byte by byte", bytewise("é你🌍"), "é你🌍"},
		{"high alone", []string{high, "x"}, "\ufffdx"},
		{"high before another", []string{high, high, low}, "\ufffd🌍"},
		{"high before a rune that begins alike", []string{high + "\xed", "\x95\x9c"}, "\ufffd한"},
		{"low alone", []string{low + "x"}, "\ufffdx"},
		{"stray bytes", []string{"a\xffb\x80c"}, "a\ufffdb\ufffdc"},
		{"broken in the middle", []string{"\xe4\xbd", "x"}, "\ufffd\ufffdx"},
		{"half at the end is not shown", []string{"a\xe4\xbd"}, "a"},
		{"high at the end is not shown", []string{"a" + high}, "a"},
		{"a real replacement character stays", []string{"\ufffd"}, "\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var j joiner
			got := ""
			for _, p := range tt.pieces {
				got += j.push([]byte(p))
				if len(j.incomplete) > 5 {
					t.Fatalf("%d bytes held", len(j.incomplete))
				}
			}
			if got != tt.want {
				t.Errorf("got %q; want %q", got, tt.want)
			}
		})
	}
}

func bytewise(s string) []string {
	var pieces []string
	for i := range len(s) {
		pieces = append(pieces, s[i:i+1])
	}
	return pieces
}
