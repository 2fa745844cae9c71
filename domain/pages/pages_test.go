package pages

import (
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/framing"
)

func TestCanonicalURL(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("a", MaxURLBytes-len("https://example.org/"))
	tests := []struct{ name, in, want string }{ // want "": refused
		{"plain", "https://example.org/a", "https://example.org/a"},
		{"case of scheme and host", "HTTPS://Example.ORG/A?B=C", "https://example.org/A?B=C"},
		{"default port of https", "https://example.org:443/", "https://example.org/"},
		{"default port of http", "http://example.org:80/", "http://example.org/"},
		{"empty port", "http://example.org:/", "http://example.org/"},
		{"other port stays", "http://example.org:443/", "http://example.org:443/"},
		{"ipv6", "http://[2001:DB8::1]:80/x", "http://[2001:db8::1]/x"},
		{"ipv6 without port", "http://[::1]/x", "http://[::1]/x"},
		{"user and fragment", "https://me:pw@example.org/a#part", "https://example.org/a"},
		{"empty path", "https://example.org", "https://example.org/"},
		{"empty path with query", "https://example.org?q=1", "https://example.org/?q=1"},
		{"empty query", "https://example.org/a?", "https://example.org/a"},
		{"query order and spelling stay", "https://e.org/?b=2&a=%7e+x&a=1&c", "https://e.org/?b=2&a=%7e+x&a=1&c"},
		{"secrets go", "https://e.org/?a=1&token=x&KEY=y&code=1&sig=2&auth&password=p&session=s&access_token=t&id_token=i&b=2", "https://e.org/?a=1&b=2"},
		{"escaped name of a secret", "https://e.org/?to%6ben=x&a=1", "https://e.org/?a=1"},
		{"names that only contain one", "https://e.org/?keyword=x&tokens=1", "https://e.org/?keyword=x&tokens=1"},
		{"campaign marks", "https://e.org/?utm_source=x&utm_x=y&q=z", "https://e.org/?q=z"},
		{"only secrets", "https://e.org/?token=x", "https://e.org/"},
		{"escaped path stays", "https://e.org/a%2Fb%20c", "https://e.org/a%2Fb%20c"},
		{"blanks around", " https://e.org/ ", "https://e.org/"},
		{"longest", long, long},
		{"too long", long + "a", ""},
		{"too long only by its fragment", long + "#" + long, long},
		{"empty", "", ""},
		{"relative", "/a/b", ""},
		{"no host", "https:///a", ""},
		{"only a port", "https://:443/", ""},
		{"opaque", "https:example.org", ""},
		{"file", "file:///etc/passwd", ""},
		{"javascript", "javascript:alert(1)", ""},
		{"data", "data:text/html,x", ""},
		{"extension", "chrome-extension://abcdef/panel.html", ""},
		{"about", "about:blank", ""},
		{"control character", "https://e.org/\n", "https://e.org/"},
		{"control character inside", "https://e.org/a\nb", ""},
		{"bad escape", "https://e.org/%zz", ""},
		{"bad port", "https://e.org:http/", ""},
		{"not utf-8", "https://e.org/\xff", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := CanonicalURL(tt.in)
			if ok != (tt.want != "") || ok && got != tt.want {
				t.Errorf("CanonicalURL(%q) = %q, %v, want %q", tt.in, got, ok, tt.want)
			}
		})
	}
}

func FuzzCanonicalURL(f *testing.F) {
	f.Add("HTTPS://me@Example.org:443/a b?token=1&x=;#f")
	f.Add("http://[::1]:80?utm_a=%zz")
	f.Fuzz(func(t *testing.T, raw string) {
		once, ok := CanonicalURL(raw)
		if !ok {
			return
		}
		if twice, ok := CanonicalURL(once); !ok || twice != once {
			t.Fatalf("CanonicalURL(%q) = %q, again %q, %v", raw, once, twice, ok)
		}
		if !strings.HasPrefix(once, "http://") && !strings.HasPrefix(once, "https://") || len(once) > MaxURLBytes {
			t.Fatalf("CanonicalURL(%q) = %q", raw, once)
		}
	})
}

func TestNew(t *testing.T) {
	big := strings.Repeat("桥", MaxTextBytes)
	tests := []struct {
		name string
		in   framing.PageContext
		want Page
		ok   bool
	}{
		{"private page", framing.PageContext{Title: "T", Extract: "x"}, Page{}, false},
		{"settings page", framing.PageContext{URL: "about:config", Extract: "x"}, Page{}, false},
		{"nothing to keep", framing.PageContext{URL: "https://e.org/", Title: " ", Extract: "\n"}, Page{}, false},
		{"title alone", framing.PageContext{URL: "https://e.org/", Title: " A\n b "}, Page{URL: "https://e.org/", Title: "A b"}, true},
		{"selection then extract", framing.PageContext{URL: "https://E.org/#x", Title: "T", Selection: " s ", Extract: "e\x00f"},
			Page{URL: "https://e.org/", Title: "T", Text: "s\ne f"}, true},
		{"selection inside the extract", framing.PageContext{URL: "https://e.org/", Selection: "two", Extract: "one two three"},
			Page{URL: "https://e.org/", Text: "one two three"}, true},
		{"selection alone", framing.PageContext{URL: "https://e.org/", Selection: "two"}, Page{URL: "https://e.org/", Text: "two"}, true},
		{"bounds", framing.PageContext{URL: "https://e.org/", Title: big, Extract: big},
			Page{URL: "https://e.org/", Title: strings.Repeat("桥", MaxTitle), Text: strings.Repeat("桥", MaxTextBytes/3)}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Origin = "chrome-extension://a"
			got, ok := New(tt.in, "chrome-extension://a")
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("New = %+v, %v, want %+v, %v", got, ok, tt.want, tt.ok)
			}
			if !utf8.ValidString(got.Text) || len(got.Text) > MaxTextBytes {
				t.Errorf("text of %d bytes, valid %v", len(got.Text), utf8.ValidString(got.Text))
			}
		})
	}
}
