package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestClassifyOrigin(t *testing.T) {
	longest := "moz-extension://" + strings.Repeat("a", MaxOriginLength-len("moz-extension://"))
	for _, tc := range []struct {
		headers []string
		want    OriginClass
	}{
		{nil, NoOrigin},
		{[]string{}, NoOrigin},
		{[]string{"chrome-extension://abcdefghijklmnopabcdefghijklmnop"}, ExtensionOrigin},
		{[]string{"moz-extension://0b7c6a1e-7c55-4f4b-9d07-1c4e6b1b8a11"}, ExtensionOrigin},
		{[]string{"safari-web-extension://0B7C6A1E-7C55-4F4B-9D07-1C4E6B1B8A11"}, ExtensionOrigin},
		{[]string{longest}, ExtensionOrigin},
		{[]string{longest + "a"}, ForeignOrigin},
		{[]string{""}, ForeignOrigin},
		{[]string{"null"}, ForeignOrigin},
		{[]string{"http://127.0.0.1:9001"}, ForeignOrigin},
		{[]string{"https://abcdefghijklmnopabcdefghijklmnop"}, ForeignOrigin},
		{[]string{"chrome-extension://"}, ForeignOrigin},
		{[]string{"chrome-extension:/abc"}, ForeignOrigin},
		{[]string{"Chrome-Extension://abc"}, ForeignOrigin},
		{[]string{" chrome-extension://abc"}, ForeignOrigin},
		{[]string{"chrome-extension://abc "}, ForeignOrigin},
		{[]string{"chrome-extension://abc/"}, ForeignOrigin},
		{[]string{"chrome-extension://abc.evil.example"}, ForeignOrigin},
		{[]string{"chrome-extension://abc:80"}, ForeignOrigin},
		{[]string{"chrome-extension://user@abc"}, ForeignOrigin},
		{[]string{"chrome-extension://äbc"}, ForeignOrigin},
		{[]string{"chrome-extension://abc\x00"}, ForeignOrigin},
		{[]string{"ms-browser-extension://abc"}, ForeignOrigin},
		{[]string{"xchrome-extension://abc"}, ForeignOrigin},
		{[]string{"chrome-extension://abc", "chrome-extension://abc"}, ForeignOrigin},
		{[]string{"chrome-extension://abc, https://evil.example"}, ForeignOrigin},
	} {
		origin, class := ClassifyOrigin(tc.headers)
		if class != tc.want {
			t.Errorf("%q: class %d, want %d", tc.headers, class, tc.want)
		}
		if len(tc.headers) == 1 && origin != tc.headers[0] || len(tc.headers) != 1 && origin != "" {
			t.Errorf("%q: origin %q", tc.headers, origin)
		}
	}
}

func TestParseOffers(t *testing.T) {
	key := strings.Repeat("0123456789abcdef", 4)
	entry := SubprotocolPrefix + key
	isKey := Offer{Entry: entry, Key: HashKey(key), IsKey: true}
	for _, tc := range []struct {
		headers []string
		want    []Offer
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{" , ,\t"}, nil},
		{[]string{entry}, []Offer{isKey}},
		{[]string{" \t" + entry + " "}, []Offer{isKey}},
		{[]string{"chat," + entry + ",,soap"}, []Offer{{Entry: "chat"}, isKey, {Entry: "soap"}}},
		{[]string{"chat", entry}, []Offer{{Entry: "chat"}, isKey}},
		{[]string{entry + ", " + entry}, []Offer{isKey, isKey}},
		{[]string{SubprotocolPrefix}, []Offer{{Entry: SubprotocolPrefix}}},
		{[]string{SubprotocolPrefix + strings.ToUpper(key)}, []Offer{{Entry: SubprotocolPrefix + strings.ToUpper(key)}}},
		{[]string{strings.ToUpper(SubprotocolPrefix) + key}, []Offer{{Entry: strings.ToUpper(SubprotocolPrefix) + key}}},
		{[]string{entry + "0"}, []Offer{{Entry: entry + "0"}}},
		{[]string{entry[:len(entry)-1]}, []Offer{{Entry: entry[:len(entry)-1]}}},
		{[]string{key}, []Offer{{Entry: key}}},
		{[]string{"x" + entry}, []Offer{{Entry: "x" + entry}}},
		{[]string{SubprotocolPrefix + " " + key}, []Offer{{Entry: SubprotocolPrefix + " " + key}}},
	} {
		if got := ParseOffers(tc.headers); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %+v, want %+v", tc.headers, got, tc.want)
		}
	}
}

func TestWellFormedKey(t *testing.T) {
	good := strings.Repeat("0123456789abcdef", 4)
	if !WellFormedKey(good) {
		t.Error("a good key is refused")
	}
	for _, bad := range []string{"", good[1:], good + "0", "A" + good[1:], "g" + good[1:], "/" + good[1:], ":" + good[1:], "`" + good[1:], " " + good[1:], "é" + good[2:]} {
		if WellFormedKey(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestKeyHash: the digits are the contract with the extension's panel.
func TestKeyHash(t *testing.T) {
	// SHA-256 of "abc", as everybody knows it: 0xba7816bf modulo 10000 is 2319.
	h := HashKey("abc")
	if h.Hex() != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("the hash of abc is %s", h.Hex())
	}
	if h.Digits() != "2319" {
		t.Errorf("its digits are %s", h.Digits())
	}
	if got := (KeyHash{0, 0, 0, 7}).Digits(); got != "0007" {
		t.Errorf("small digits read %q, want four", got)
	}
	if !h.Equal(HashKey("abc")) || h.Equal(HashKey("abd")) {
		t.Error("the hash of abc must equal itself and no other")
	}
	if got := (Extension{Key: h}).Digits(); got != "2319" {
		t.Errorf("a row shows %q", got)
	}
	if got := (Extension{}).Digits(); got != "" {
		t.Errorf("a row without a key shows %q", got)
	}
}

// TestSecret_IsNeverPrinted: whatever verb, encoder or logger gets hold of it,
// alone or inside something else. (%p alone passes every method by; vet refuses it
// for what is no pointer.)
func TestSecret_IsNeverPrinted(t *testing.T) {
	const value = "s3cr3t"
	s := NewSecret(value)
	type holder struct {
		Name  string
		Token Secret
		Ref   *Secret
	}
	held := holder{"n", s, &s}
	many := map[string]Secret{"k": s}
	keys := map[Secret]int{s: 1}
	for _, verb := range strings.Split("v,+v,#v,s,q,x,X,d,T,t,c,U,e,10s,-20v,.3s,% x", ",") {
		for _, arg := range []any{s, &s, held, &held, []Secret{s}, many, keys} {
			out := fmt.Sprintf("%"+verb, arg)
			for _, form := range []string{value, value[:3], fmt.Sprintf("%x", value), fmt.Sprintf("%X", value), fmt.Sprintf("% x", value)} {
				if strings.Contains(out, form) {
					t.Errorf("%%%s of %T prints %s", verb, arg, out)
				}
			}
		}
	}
	printed := []string{fmt.Sprint(s), fmt.Sprintln(held), s.String(), s.GoString(), fmt.Errorf("with %v", s).Error()}
	encoded, err := json.Marshal([]any{s, held, many, keys})
	if err != nil {
		t.Fatal(err)
	}
	printed = append(printed, string(encoded))
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		l := slog.New(handler)
		l.Info("line", "alone", s, "pointer", &s, "held", held, "many", many, slog.Group("group", "inside", s))
		l.With("before", s).Info("line")
	}
	for _, out := range append(printed, log.String()) {
		if strings.Contains(out, value) {
			t.Errorf("the secret is in %q", out)
		}
	}
	if s.Reveal() != value || s.Hash() != HashKey(value) || s.Empty() || !(Secret{}).Empty() {
		t.Error("the secret is not what was put in")
	}
}

// TestCauses_AllHaveAdvice: the owner's list shows a sentence for each, a
// different one.
func TestCauses_AllHaveAdvice(t *testing.T) {
	seen := map[string]Cause{}
	for _, c := range Causes() {
		advice := c.Advice()
		if advice == "" || !strings.HasSuffix(advice, ".") {
			t.Errorf("%s has no sentence: %q", c, advice)
		}
		if other, ok := seen[advice]; ok {
			t.Errorf("%s and %s say the same", c, other)
		}
		seen[advice] = c
		if c == "" || strings.ToLower(string(c)) != string(c) || strings.Contains(string(c), " ") {
			t.Errorf("%q is no word for a log", c)
		}
		if v := Refuse(c); v.Admitted || v.Cause != c || v.Entry != "" {
			t.Errorf("a refusal for %s reads %+v", c, v)
		}
	}
	if got := Cause("another").Advice(); got != "" {
		t.Errorf("an unknown cause has the advice %q", got)
	}
}
