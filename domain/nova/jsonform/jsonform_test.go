package jsonform_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"plexus/domain/nova/jsonform"
)

func TestWhatIsNoObject(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	for text, want := range map[string]error{
		`{}`:                          nil,
		" \t\r\n{ } ":                 nil,
		deep(63):                      nil,
		deep(64):                      jsonform.ErrDepth,
		`{"a":"[[[["}`:                nil,
		`{"a":"\"[{"}`:                nil,
		``:                            jsonform.ErrSyntax,
		`[]`:                          jsonform.ErrType,
		`null`:                        jsonform.ErrType,
		`{}{}`:                        jsonform.ErrSyntax,
		`{"a":1,}`:                    jsonform.ErrSyntax,
		"\ufeff{}":                    jsonform.ErrSyntax,
		`{"a":"\ud83c"}`:              jsonform.ErrSurrogate,
		`{"a":"\udfa7"}`:              jsonform.ErrSurrogate,
		`{"a":"\ud83c\ud83c"}`:        jsonform.ErrSurrogate,
		`{"a":"\ud83cx\udfa7"}`:       jsonform.ErrSurrogate,
		`{"\ud83c":1}`:                jsonform.ErrSurrogate,
		`{"a":"\uD83C\udfa7\\ud83c"}`: nil,
		`{"a":"\u12"}`:                jsonform.ErrSyntax,
		`{"a":"\ud83c`:                jsonform.ErrSurrogate,
		"{\"a\":\"\xff\"}":            jsonform.ErrUTF8,
	} {
		if _, err := jsonform.Read([]byte(text)).Done(); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestTheLastOfEqualNamesAndExactNames(t *testing.T) {
	var a string
	f := jsonform.Read([]byte(`{"A":"no","a":"first","\u0061":"last"}`))
	f.Text("a", jsonform.Required, &a, jsonform.Anything)
	if _, err := f.Done(); err != nil || a != "last" {
		t.Errorf("%q, %v", a, err)
	}
}

// canonical gives the canonical form of a value, which it puts into an object.
func canonical(value string) (string, error) {
	out, err := jsonform.AppendCanonical(nil, jsonform.Read([]byte(`{"v":`+value+`}`)))
	return strings.TrimSuffix(strings.TrimPrefix(string(out), `{"v":`), "}"), err
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":{"d":[true,false,null],"c":"\u00e9\/"}}`: `{"a":{"c":"é/","d":[true,false,null]},"b":1}`,
		`[ 1.0 , 1e2 , -0 , 0.10 , -1.5E+1 ]`:                `[1,100,0,0.1,-15]`,
		`[1e-7,0.000001]`:                                    `[1e-07,0.000001]`,
		`9007199254740991`:                                   `9007199254740991`,
		"\"\u2028\x7f<\"":                                    "\"\u2028\x7f<\"",
		`"\u0008\u000C\u001F"`:                               `"\b\f\u001f"`,
		`{"😀":1,"\uffff":2}`:                                 "{\"\uffff\":2,\"😀\":1}",
		`{"a":1,"a":2}`:                                      `{"a":2}`,
		`[{"a":1e999,"b":3,"a":{"c":[1e999],"c":2}}]`:        `[{"a":{"c":2},"b":3}]`,
	} {
		got, err := canonical(in)
		if err != nil || got != want {
			t.Errorf("%s gives %s, %v; want %s", in, got, err, want)
		}
		if again, err := canonical(got); err != nil || again != got {
			t.Errorf("%s is not its own canonical form: %s, %v", got, again, err)
		}
	}
	for _, in := range []string{`1e999`, `-1e999`, `9007199254740992`, `{"a":[{"b":-9007199254740992}]}`, `[1e300]`, `{"a":1,"a":1e999}`} {
		if got, err := canonical(in); !errors.Is(err, jsonform.ErrNumber) {
			t.Errorf("%s gives %s, %v", in, got, err)
		}
	}
}

// The set is written out twice, here as the protocol lists it.
func TestWhiteSpaceIsTheWiresOwn(t *testing.T) {
	const listed = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680" +
		"\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	const trimmed = "\t\n\v\f\r \u00a0\u1680" +
		"\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
	for r := range unicode.MaxRune + 1 {
		if got, want := jsonform.IsSpace(r), strings.ContainsRune(listed, r) && r != unicode.ReplacementChar; got != want {
			t.Errorf("IsSpace(%U) = %v", r, got)
		}
		if got, want := jsonform.IsTrimmed(r), strings.ContainsRune(trimmed, r) && r != unicode.ReplacementChar; got != want {
			t.Errorf("IsTrimmed(%U) = %v", r, got)
		}
	}
}

func TestThreeMeasuresOfLength(t *testing.T) {
	const s = "aé回🎧"
	if n := jsonform.UnitCount(s); n != 5 {
		t.Errorf("%d UTF-16 units, want 5", n)
	}
	for name, c := range map[string]struct{ good, want bool }{
		"4 points":          {jsonform.Points(4, 4)(s), true},
		"3 points":          {jsonform.Points(0, 3)(s), false},
		"5 units":           {jsonform.Units(5, 5)(s), true},
		"4 units":           {jsonform.Units(0, 4)(s), false},
		"blank":             {jsonform.NotBlank(9)(" \x1f\u3000"), false},
		"not blank":         {jsonform.NotBlank(9)(" \ufeff"), true},
		"printable":         {jsonform.Printable("a b\u00a0é🎧"), true},
		"control":           {jsonform.Printable("a\x07"), false},
		"format":            {jsonform.Printable("a\u202eb"), false},
		"private use":       {jsonform.Printable("\ue000"), false},
		"unassigned":        {jsonform.Printable("\u0378"), false},
		"zero width joiner": {jsonform.Printable("a\u200db"), false},
	} {
		if c.good != c.want {
			t.Errorf("%s: %v", name, c.good)
		}
	}
}

func TestIntegerTokens(t *testing.T) {
	for token, want := range map[string]bool{
		"0": true, "10": true, "9007199254740991": true,
		"": false, "00": false, "01": false, "-0": false, "+1": false, "1.0": false, "1e0": false, " 1": false, "٣": false,
		"9007199254740992": false, "99999999999999999999": false, "null": false, `"1"`: false,
	} {
		if _, ok := jsonform.Integer(token); ok != want {
			t.Errorf("%q: %v", token, ok)
		}
	}
}

// sample has one member of every kind.
type sample struct {
	text, omitted, null string
	yes                 bool
	n                   uint64
	f                   float64
	on, off             jsonform.Optional[uint64]
	words               []string
	list                []string
}

func (s *sample) form(f *jsonform.Form) {
	f.Text("text", jsonform.Required, &s.text, jsonform.Units(1, 9))
	f.Text("omitted", jsonform.Omitted, &s.omitted, jsonform.Units(1, 9))
	f.Text("null", jsonform.Null, &s.null, jsonform.Units(1, 9))
	f.Bool("yes", &s.yes)
	f.Uint("n", &s.n, 1, 9)
	f.Number("f", &s.f, -1, 1)
	f.OptionalUint("on", jsonform.Null, &s.on, 0, 9)
	f.OptionalUint("off", jsonform.Omitted, &s.off, 0, 9)
	jsonform.Texts(f, "words", jsonform.Omitted, &s.words, 1, 2, jsonform.Units(1, 9))
	jsonform.List(f, "list", &s.list, 0, 2, func(f *jsonform.Form, v *string) {
		f.Text("v", jsonform.Required, v, jsonform.Anything)
	})
}

const (
	sparse = `{"text":"a","null":null,"yes":false,"n":1,"f":-0.5,"on":null,"list":[]}`
	full   = `{"text":"a","omitted":"b","null":"c","yes":true,"n":9,"f":1,"on":0,"off":7,"words":["x","y"],"list":[{"v":"é"},{"v":""}]}`
)

func TestOneSchemaReadsAndWrites(t *testing.T) {
	for _, text := range []string{sparse, full} {
		var s sample
		f := jsonform.Read([]byte(text)).Strict()
		s.form(f)
		if _, err := f.Done(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		w := jsonform.Write([]byte("kept"))
		s.form(w)
		if out, err := w.Done(); err != nil || string(out) != "kept"+text {
			t.Errorf("%s comes back as %s, %v", text, out, err)
		}
	}
}

func TestWhatASchemaRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		want     jsonform.Problem
	}{
		"missing":               {`"text":"a",`, ``, jsonform.ErrMissing},
		"null for required":     {`"text":"a"`, `"text":null`, jsonform.ErrType},
		"null for omitted":      {`"omitted":"b"`, `"omitted":null`, jsonform.ErrType},
		"absent for null":       {`"null":"c",`, ``, jsonform.ErrMissing},
		"number for text":       {`"text":"a"`, `"text":1`, jsonform.ErrType},
		"too long":              {`"text":"a"`, `"text":"aaaaaaaaaa"`, jsonform.ErrValue},
		"text for bool":         {`true`, `"true"`, jsonform.ErrType},
		"fraction for integer":  {`"n":9`, `"n":8.5`, jsonform.ErrValue},
		"integer too large":     {`"n":9`, `"n":10`, jsonform.ErrValue},
		"negative integer":      {`"n":9`, `"n":-1`, jsonform.ErrValue},
		"unsafe":                {`"n":9`, `"n":9007199254740993`, jsonform.ErrNumber},
		"infinite":              {`"f":1`, `"f":1e999`, jsonform.ErrNumber},
		"text for number":       {`"f":1`, `"f":"1"`, jsonform.ErrType},
		"null for a number":     {`"off":7`, `"off":null`, jsonform.ErrType},
		"text for an array":     {`["x","y"]`, `"x"`, jsonform.ErrType},
		"number in an array":    {`["x","y"]`, `["x",1]`, jsonform.ErrType},
		"too many":              {`["x","y"]`, `["x","y","z"]`, jsonform.ErrValue},
		"too many objects":      {`{"v":"é"}`, `{"v":""},{"v":""}`, jsonform.ErrValue},
		"no object in a list":   {`{"v":"é"}`, `"é"`, jsonform.ErrType},
		"unknown member":        {`{"text"`, `{"x":1,"text"`, jsonform.ErrUnknown},
		"unknown member below":  {`{"v":"é"}`, `{"v":"é","w":1}`, jsonform.ErrUnknown},
		"bad object in a list":  {`{"v":"é"}`, `{"v":1}`, jsonform.ErrType},
		"not an object at all":  {`{"text"`, `[{"text"`, jsonform.ErrSyntax},
		"true in place of text": {`"text":"a"`, `"text":true`, jsonform.ErrType},
	} {
		t.Run(name, func(t *testing.T) {
			var s sample
			f := jsonform.Read([]byte(strings.Replace(full, c.old, c.new, 1))).Strict()
			s.form(f)
			if _, err := f.Done(); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

func TestErrorsDoNotQuoteInput(t *testing.T) {
	const private = "very private"
	for _, text := range []string{`{"text":"` + private + `"}`, `{"` + private + `":1}`, `{"text":["` + private + `"]}`, `"` + private + `"`} {
		var s sample
		f := jsonform.Read([]byte(text)).Strict()
		s.form(f)
		if _, err := f.Done(); err == nil || strings.Contains(err.Error(), private) {
			t.Errorf("%v", err)
		}
	}
}
