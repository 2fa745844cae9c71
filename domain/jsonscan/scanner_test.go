package jsonscan

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
)

// readAll runs read over the whole of src.
func readAll[T any](src string, read func(*Scanner) T) (T, error) {
	s := Scan(src)
	v := read(&s)
	s.End()
	return v, s.err
}

func TestText(t *testing.T) {
	cases := []struct {
		src, want string
		err       error
	}{
		{`""`, "", nil},
		{" \t\r\n\"a\" \t\r\n", "a", nil},
		{`"é日👋"`, "é日👋", nil},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", nil},
		{`"a\u00e9b\u65E5c"`, "aéb日c", nil},
		{`"\ud83d\udc4b\uD83D\uDC4B"`, "👋👋", nil},
		{`"\u0000"`, "\x00", nil},
		{`"\ufffd"`, "\ufffd", nil},
		{"\"\x7f\u2028\uffff\"", "\x7f\u2028\uffff", nil},
		{`"\ud83d"`, "", ErrSurrogate},
		{`"\udc4b"`, "", ErrSurrogate},
		{`"\udc4b\ud83d"`, "", ErrSurrogate},
		{`"\ud83d\ud83d"`, "", ErrSurrogate},
		{`"\ud83dxxxxxx"`, "", ErrSurrogate},
		{`"\ud83d\n"`, "", ErrSurrogate},
		{`"\ud83d\u0041"`, "", ErrSurrogate},
		{"\"\xff\"", "", ErrUTF8},
		{"\"\xe2\x82\"", "", ErrUTF8},
		{"\"\xc0\xaf\"", "", ErrUTF8},
		{"\"\xed\xa0\x80\"", "", ErrUTF8},
		{"\"\xf4\x90\x80\x80\"", "", ErrUTF8},
		{"\"\x1f\"", "", ErrSyntax},
		{"\"\x00\"", "", ErrSyntax},
		{`"\x"`, "", ErrSyntax},
		{`"\U0041"`, "", ErrSyntax},
		{`"\u00g0"`, "", ErrSyntax},
		{`"\u00@0"`, "", ErrSyntax},
		{`"\u004"`, "", ErrSyntax},
		{`"\u00`, "", ErrSyntax},
		{`"\`, "", ErrSyntax},
		{`"a`, "", ErrSyntax},
		{`"`, "", ErrSyntax},
		{``, "", ErrType},
		{`'a'`, "", ErrType},
		{`null`, "", ErrType},
		{"\ufeff\"a\"", "", ErrType},
		{"\v\"a\"", "", ErrType},
		{`"a""`, "a", ErrTrailing},
		{"\"a\"\x00", "a", ErrTrailing},
		{"\"a\"\u00a0", "a", ErrTrailing},
	}
	for _, c := range cases {
		got, err := readAll(c.src, (*Scanner).Text)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: %q, %v, want %q, %v", c.src, got, err, c.want, c.err)
		}
	}
}

func TestUnsigned(t *testing.T) {
	const limit = 300
	cases := []struct {
		src  string
		want uint64
		err  error
	}{
		{"0", 0, nil}, {"7", 7, nil}, {"300", 300, nil},
		{"301", 0, ErrNumber}, {"18446744073709551616", 0, ErrNumber},
		{"1.0", 0, ErrNumber}, {"1e0", 0, ErrNumber}, {"1E2", 0, ErrNumber}, {"-0", 0, ErrNumber}, {"-1", 0, ErrNumber},
		{"01", 0, ErrTrailing}, {"1_0", 1, ErrTrailing}, {"0x0a", 0, ErrTrailing},
		{"+1", 0, ErrType}, {".5", 0, ErrType}, {"NaN", 0, ErrType}, {`"1"`, 0, ErrType}, {"null", 0, ErrType}, {"", 0, ErrType},
		{"1.", 0, ErrSyntax}, {"1e", 0, ErrSyntax}, {"1e+", 0, ErrSyntax}, {"-", 0, ErrSyntax}, {"- 1", 0, ErrSyntax},
	}
	for _, c := range cases {
		got, err := readAll(c.src, func(s *Scanner) uint64 { return s.Unsigned(limit) })
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("%q: %d, %v, want %d, %v", c.src, got, err, c.want, c.err)
		}
	}
	// Whole numbers above 2^53 keep their last digit.
	for _, n := range []uint64{1<<53 + 1, math.MaxInt64, math.MaxUint64} {
		got, err := readAll(strconv.FormatUint(n, 10), func(s *Scanner) uint64 { return s.Unsigned(math.MaxUint64) })
		if got != n || err != nil {
			t.Errorf("%d: read as %d, %v", n, got, err)
		}
	}
}

func TestFloatAndBoolean(t *testing.T) {
	for src, want := range map[string]float32{"0": 0, "-0.25": -0.25, "9.2e-1": 0.92, "0.9700000286102295": 0.97, "1E+2": 100} {
		if got, err := readAll(src, (*Scanner).Float); got != want || err != nil {
			t.Errorf("%s: %v, %v", src, got, err)
		}
	}
	for _, src := range []string{"1e39", "-1e999", "null", `"1"`, "Infinity", "1.e2"} {
		if got, err := readAll(src, (*Scanner).Float); err == nil {
			t.Errorf("%s: read as %v", src, got)
		}
	}
	for src, want := range map[string]bool{"true": true, "false": false} {
		if got, err := readAll(src, (*Scanner).Bool); got != want || err != nil {
			t.Errorf("%s: %v, %v", src, got, err)
		}
	}
	for _, src := range []string{"TRUE", "tru", "truex", "fals", "1", "null", `"true"`, ""} {
		if _, err := readAll(src, (*Scanner).Bool); err == nil {
			t.Errorf("%s: read as a bool", src)
		}
	}
}

// object reads {"a": text, "b": optional text} and skips everything else.
func object(s *Scanner) (v struct{ a, b string }) {
	for name := range s.Object(1, "a", "b") {
		switch name {
		case "a":
			v.a = s.Text()
		case "b":
			v.b = s.TextOrNull()
		}
	}
	return v
}

func TestMembers(t *testing.T) {
	cases := []struct {
		src  string
		a, b string
		err  error
	}{
		{`{"a":"x"}`, "x", "", nil},
		{` { "b" : "y" , "a" : "x" } `, "x", "y", nil},
		{`{"a":"x","b":null}`, "x", "", nil},
		{`{"\u0061":"x"}`, "x", "", nil},
		{`{"A":"no","a":"x","c":{"a":1,"a":2},"c":[],"":0}`, "x", "", nil},
		{`{}`, "", "", ErrMissing},
		{`{"A":"x"}`, "", "", ErrMissing},
		{`{"a":"x","a":"x"}`, "", "", ErrTwice},
		{`{"a":"x","\u0061":"x"}`, "", "", ErrTwice},
		{`{"a":"x","b":null,"b":null}`, "", "", ErrTwice},
		{`{"a":null}`, "", "", ErrType},
		{`{"a":"x",}`, "", "", ErrType},
		{`{"a":"x"`, "", "", ErrSyntax},
		{`{"a":"x" "b":"y"}`, "", "", ErrSyntax},
		{`{"a" "x"}`, "", "", ErrSyntax},
		{`{a:"x"}`, "", "", ErrType},
		{`{"\ud800":1,"a":"x"}`, "", "", ErrSurrogate},
		{"{\"\xff\":1,\"a\":\"x\"}", "", "", ErrUTF8},
		{`["x"]`, "", "", ErrType},
		{`null`, "", "", ErrType},
		{``, "", "", ErrType},
		{`{"a":"x"}}`, "", "", ErrTrailing},
		{`{"a":"x"}{"a":"x"}`, "", "", ErrTrailing},
	}
	for _, c := range cases {
		got, err := readAll(c.src, object)
		if !errors.Is(err, c.err) || err == nil && (got.a != c.a || got.b != c.b) {
			t.Errorf("%s: %q, %v, want %q, %q, %v", c.src, got, err, c.a, c.b, c.err)
		}
	}
}

func TestElements(t *testing.T) {
	list := func(s *Scanner) (all []string) {
		for range s.Elements {
			all = append(all, s.Text())
		}
		return all
	}
	for src, want := range map[string]string{`[]`: "", ` [ "a" ] `: "a", `["a","b"]`: "a b"} {
		if got, err := readAll(src, list); strings.Join(got, " ") != want || err != nil {
			t.Errorf("%s: %q, %v", src, got, err)
		}
	}
	for _, src := range []string{`["a",]`, `[,"a"]`, `["a" "b"]`, `["a"`, `["a",1]`, `{}`, `null`, `[`, ``} {
		if got, err := readAll(src, list); err == nil {
			t.Errorf("%s: read as %q", src, got)
		}
	}
}

func TestSkipChecksTheGrammarAlone(t *testing.T) {
	skip := func(s *Scanner) any { s.Skip(); return nil }
	for _, src := range []string{
		`{}`, `[]`, `[[],{}]`, `[{"a":1},[1,2],{"b":2}]`, `{"a":{"b":[1,{"c":[]}]},"d":null}`, `1e999`, `-0.5E-3`, `true`, `false`,
		`"\ud800"`, "\"\xff\"", `{"\ud800":1,"a":1,"a":2}`, "[ 1 ,\n{ \"a\" : 2 } ]",
		strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000),
		strings.Repeat(`[{"a":`, 500) + "1" + strings.Repeat("}]", 500),
	} {
		if _, err := readAll(src, skip); err != nil {
			t.Errorf("%.40s: %v", src, err)
		}
	}
	for _, src := range []string{
		``, `{`, `[`, `[1,]`, `{"a":1,}`, `{"a"}`, `{1:1}`, `[}`, `{]`, `[1}`, `{"a":1]`, `[1 2]`, `01`, `tru`, `nul`, `"\x"`, "\"\x01\"", `{"a":[1}]`,
		strings.Repeat("[", 300) + strings.Repeat("]", 299) + "}",
		strings.Repeat("[", 100_000),
	} {
		if _, err := readAll(src, skip); err == nil {
			t.Errorf("%.40s: passed", src)
		}
	}
}

// Whatever goes in, a standard decoder reads the same text back.
func TestAppendString(t *testing.T) {
	var controls strings.Builder
	for r := range rune(0x80) {
		controls.WriteRune(r)
	}
	cases := map[string]string{ // text → what arrives
		"":                  "",
		controls.String():   controls.String(),
		"é日👋\u2028\uffff":   "é日👋\u2028\uffff",
		"<a href='x'>&</a>": "<a href='x'>&</a>",
		"a\xffb":            "a\ufffdb",
		"\xe2\x82":          "\ufffd\ufffd",
		"\xff\"\xfe":        "\ufffd\"\ufffd",
		"\ufffd":            "\ufffd",
	}
	for text, want := range cases {
		out := AppendString(nil, text)
		var got string
		if err := json.Unmarshal(out, &got); err != nil || got != want {
			t.Errorf("%q became %s, read back as %q, %v", text, out, got, err)
		}
		if got, err := readAll(string(out), (*Scanner).Text); err != nil || got != want {
			t.Errorf("%q became %s, read back by us as %q, %v", text, out, got, err)
		}
		if len(out) > 2+MaxEscapedByte*len(text) {
			t.Errorf("%q grew to %d bytes", text, len(out))
		}
	}
	if got, want := string(AppendString(nil, "<\x01\n\"\x7f>")), `"<\u0001\n\"`+"\x7f"+`>"`; got != want {
		t.Errorf("spelled %s, want %s", got, want)
	}
}
