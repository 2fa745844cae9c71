package pages

import (
	"errors"
	"strings"
	"testing"
)

func TestParseSite(t *testing.T) {
	for typed, want := range map[string]string{ // "": refused
		"example.org": "example.org", " Example.ORG. ": "example.org", "*.example.org": "*.example.org", "bank.*": "bank.*", "*.bank.*": "*.bank.*",
		"localhost": "localhost", "my_host": "my_host", "192.168.1.1": "192.168.1.1", "192.168.*": "192.168.*", "[::1]": "::1", "2001:DB8::1": "2001:db8::1",
		"https://www.Example.org/a?b=c#d": "www.example.org", "http://me:pw@[::1]:8080/": "::1", "xn--bcher-kva.de": "xn--bcher-kva.de",
		"": "", " ": "", "*": "", "*.*": "", "*.": "", ".": "", "**": "", "exa*mple.org": "", "*example.org": "", "a.*.org": "", "*.*.org": "", "example.*.*": "",
		"example.org/path": "", "example.org:8080": "", "me@example.org": "", "a b": "", "ftp://example.org/": "", "file:///etc": "", "https://": "",
		"a..b": "", ".example.org": "", "-a.org": "", "a-.org": "", "bücher.de": "", "fe80::1%eth0": "", strings.Repeat("a", 64) + ".org": "",
		strings.Repeat("abcdefghi.", 26) + "org": "", "a\x00b": "", "<b>": "",
	} {
		got, err := ParseSite(typed)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("ParseSite(%q) = %q, %v; want %q", typed, got, err, want)
		}
		var wrong *SiteError
		if err != nil && (!errors.As(err, &wrong) || !strings.HasSuffix(strings.TrimRight(wrong.Reason, "*"), ".") && !strings.Contains(wrong.Reason, " or ")) {
			t.Errorf("%q is refused with %v", typed, err)
		}
	}
}

func TestSiteHas(t *testing.T) {
	for _, c := range []struct{ site, has, hasNot string }{
		{"example.org", "example.org www.example.org a.b.example.org example.org:8080 EXAMPLE.org example.org.", "example.com notexample.org example.org.evil.com org"},
		{"*.example.org", "www.example.org a.b.example.org", "example.org www.example.com xexample.org"},
		{"bank.*", "bank.com bank.co.uk www.bank.com login.bank.example", "bank mybank.com bank-of.com notbank.co.uk"},
		{"*.bank.*", "www.bank.com a.b.bank.co.uk", "bank.com bank.co.uk"},
		{"localhost", "localhost localhost:9010 a.localhost", "localhosts local"},
		{"192.168.1.1", "192.168.1.1 192.168.1.1:80", "1.192.168.1.1.example 192.168.1.10"},
		{"1.1", "1.1.a.1.1", "192.168.1.1"},
		{"192.168.*", "192.168.1.1 192.168.0.7:8080", "192.16.1.1 10.192.168.1"},
		{"::1", "[::1] [::1]:8080 [0:0:0:0:0:0:0:1]", "[::2]"},
	} {
		for host := range strings.FieldsSeq(c.has) {
			if !Site(c.site).Has("https://" + host + "/path") {
				t.Errorf("%s does not have %s", c.site, host)
			}
		}
		for host := range strings.FieldsSeq(c.hasNot) {
			if Site(c.site).Has("https://" + host + "/example.org/bank.com") {
				t.Errorf("%s has %s", c.site, host)
			}
		}
	}
}

func FuzzSite(f *testing.F) {
	f.Add("*.Example.org", "https://www.example.org/")
	f.Add("https://[::1]:80/", "https://[::1]/")
	f.Fuzz(func(t *testing.T, typed, raw string) {
		site, err := ParseSite(typed)
		if err != nil {
			return
		}
		if again, err := ParseSite(string(site)); err != nil || again != site {
			t.Fatalf("%q is %q, and that is %q, %v", typed, site, again, err)
		}
		if canonical, ok := CanonicalURL(raw); ok {
			site.Has(canonical)
			if own, err := ParseSite(canonical); err == nil && !own.Has(canonical) {
				t.Fatalf("the site %q of %q does not have it", own, canonical)
			}
		}
	})
}
