package secret

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// embedding is what a kind of secret looks like in another package.
type embedding struct{ Text }

func TestText_IsNeverPrinted(t *testing.T) {
	const plain = "0123456789abcdef0123456789abcdef"
	kind := embedding{New(plain)}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v"} {
		fmt.Fprintf(&out, verb+"\n", kind)
		fmt.Fprintf(&out, verb+"\n", &kind)
		fmt.Fprintf(&out, verb+"\n", struct{ Inner embedding }{kind})
		fmt.Fprintf(&out, verb+"\n", []Text{kind.Text})
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", kind, "in_struct", struct{ S embedding }{kind})
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", kind, "in_slice", []embedding{kind})
	if err := json.NewEncoder(&out).Encode(map[string]any{"secret": kind, "map": map[string]embedding{"k": kind}}); err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{plain, fmt.Sprintf("%x", plain), fmt.Sprintf("%d", []byte(plain))} {
		if strings.Contains(out.String(), leak) {
			t.Errorf("the secret is in the output:\n%s", out.String())
		}
	}
	if kind.Reveal() != plain || kind.Empty() || !(Text{}).Empty() {
		t.Error("Reveal and Empty do not tell the truth")
	}
}

func TestHash_RoundTrip(t *testing.T) {
	h := New("abc").Hash()
	if h.Hex() != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("SHA-256 of abc is %s", h.Hex())
	}
	back, err := ParseHash(h.Hex())
	if err != nil || !back.Equal(h) || back.Equal(New("abd").Hash()) {
		t.Errorf("read back as %s, %v", back.Hex(), err)
	}
	for _, bad := range []string{"", h.Hex()[1:], h.Hex() + "0", strings.ToUpper(h.Hex()), strings.Repeat("g", 64)} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
