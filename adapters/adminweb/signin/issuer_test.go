package signin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"plexus/domain/secret"
)

// clock is a time that a test moves.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func newIssuer() (*Issuer, *clock) {
	c := &clock{time.Date(2026, time.November, 30, 9, 0, 0, 0, time.UTC)}
	return NewIssuer(c.read, rand.Reader), c
}

func must(t *testing.T, make func() (Token, error)) Token {
	t.Helper()
	token, err := make()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func used(t Token) bool {
	select {
	case <-t.Used:
		return true
	default:
		return false
	}
}

func TestALinkSignsInOnceWithinAMinute(t *testing.T) {
	s, c := newIssuer()
	link := must(t, s.Link)
	if !secret.LowerHex(link.Secret.Reveal(), 64) || used(link) {
		t.Errorf("link %q", link.Secret.Reveal())
	}
	if s.RedeemLink(secret.New("other")) || s.RedeemLink(secret.Text{}) {
		t.Error("another secret is taken")
	}
	c.now = c.now.Add(TokenLife - 1)
	if !s.RedeemLink(link.Secret) || !used(link) {
		t.Error("the link does not work within its minute")
	}
	if s.RedeemLink(link.Secret) {
		t.Error("the link works twice")
	}
	late := must(t, s.Link)
	c.now = c.now.Add(TokenLife)
	if s.RedeemLink(late.Secret) || used(late) {
		t.Error("the link works after its minute")
	}
}

func TestOnlyTheNewestLinksLive(t *testing.T) {
	s, _ := newIssuer()
	first := must(t, s.Link)
	second := must(t, s.Link)
	for range maxLinks - 1 {
		must(t, s.Link)
	}
	if s.RedeemLink(first.Secret) || !s.RedeemLink(second.Secret) {
		t.Errorf("the oldest of more than %d links has to go", maxLinks)
	}
}

func TestACodeSignsInHoweverItIsTyped(t *testing.T) {
	for _, change := range []func(string) string{
		func(s string) string { return s },
		strings.ToLower,
		func(s string) string { return " " + s[:5] + "-" + s[5:] + " " },
		func(s string) string { return strings.NewReplacer("O", "0", "I", "1", "B", "8").Replace(s) },
	} {
		s, _ := newIssuer()
		code := must(t, s.Code)
		plain := code.Secret.Reveal()
		if len(plain) != CodeLength || strings.Trim(plain, codeLetters) != "" {
			t.Fatalf("code %q", plain)
		}
		if typed := change(plain); !s.RedeemCode(typed) || !used(code) || s.RedeemCode(typed) {
			t.Errorf("%q typed for %q does not work once", typed, plain)
		}
	}
}

func TestFiveWrongTriesVoidACode(t *testing.T) {
	for wrong := range MaxWrongCodes + 1 {
		s, _ := newIssuer()
		code := must(t, s.Code)
		for range wrong {
			if s.RedeemCode("AAAAAAAAAA") {
				t.Fatal("a wrong code is taken")
			}
		}
		if got, want := s.RedeemCode(code.Secret.Reveal()), wrong < MaxWrongCodes; got != want {
			t.Errorf("after %d wrong tries the code works: %v", wrong, got)
		}
	}
}

func TestACodeEndsWithItsMinuteAndItsSuccessor(t *testing.T) {
	s, c := newIssuer()
	if s.RedeemCode("") {
		t.Error("no code is live, and nothing is taken for one")
	}
	old := must(t, s.Code)
	for range MaxWrongCodes - 1 {
		s.RedeemCode("x")
	}
	code := must(t, s.Code)
	if s.RedeemCode(old.Secret.Reveal()) {
		t.Error("two codes live at once")
	}
	c.now = c.now.Add(TokenLife - 1)
	if !s.RedeemCode(code.Secret.Reveal()) {
		t.Error("wrong tries at the old code count against the new one")
	}
	code = must(t, s.Code)
	c.now = c.now.Add(TokenLife)
	if s.RedeemCode(code.Secret.Reveal()) {
		t.Error("a code works after its minute")
	}
}

func TestTokensNeverPrint(t *testing.T) {
	s, _ := newIssuer()
	link, code := must(t, s.Link), must(t, s.Code)
	text := fmt.Sprintf("%v %+v %#v %v", link, code, code, s)
	if strings.Contains(text, link.Secret.Reveal()) || strings.Contains(text, code.Secret.Reveal()) {
		t.Error(text)
	}
}

func TestWithoutRandomnessThereIsNoToken(t *testing.T) {
	s := NewIssuer(time.Now, iotest.ErrReader(io.ErrUnexpectedEOF))
	for _, try := range []func() (Token, error){s.Link, s.Code} {
		if token, err := try(); !errors.Is(err, io.ErrUnexpectedEOF) || !token.Secret.Empty() {
			t.Errorf("%v, %v", token, err)
		}
	}
}
