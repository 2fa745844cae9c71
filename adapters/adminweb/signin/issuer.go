// Package signin gives out the links and codes that each sign one browser in to the
// owner's page, and takes them back once.
package signin

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"plexus/domain/secret"
)

// Limits of signing in (decision A2).
const (
	TokenLife     = 60 * time.Second
	MaxWrongCodes = 5 // the fifth voids the code
	CodeLength    = 10
	maxLinks      = 8 // live at once; one more drops the oldest
)

// codeLetters is base32 as in RFC 4648.
const codeLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// Token signs in once.
type Token struct {
	Secret  secret.Text
	Expires time.Time
	Used    <-chan struct{} // closed once somebody has signed in with it
}

// Issuer makes and redeems tokens. The secret of a link has 64 hex digits. Of codes
// one is live at a time. All methods may be called concurrently.
type Issuer struct {
	now    func() time.Time
	random io.Reader

	mu    sync.Mutex
	links []issued // oldest first
	code  issued   // its hash is zero when there is none
	wrong int      // tries at code that failed
}

// issued is what is kept of a token: never its secret.
type issued struct {
	hash    secret.Hash
	expires time.Time
	used    chan struct{}
}

// NewIssuer makes one with nothing live. random must be safe to read concurrently.
func NewIssuer(now func() time.Time, random io.Reader) *Issuer {
	return &Issuer{now: now, random: random}
}

// Link makes a token for the fragment of an address: /#open=<secret>.
func (i *Issuer) Link() (Token, error) {
	bits, err := randomBits(i.random, 32)
	if err != nil {
		return Token{}, fmt.Errorf("make a sign-in link: %w", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	told, kept := i.issue(secret.New(hex.EncodeToString(bits)))
	if len(i.links) == maxLinks {
		i.links = slices.Delete(i.links, 0, 1)
	}
	i.links = append(i.links, kept)
	return told, nil
}

// Code makes a token that a person types: CodeLength letters and digits. The
// code before it is void from now on.
func (i *Issuer) Code() (Token, error) {
	bits, err := randomBits(i.random, CodeLength)
	if err != nil {
		return Token{}, fmt.Errorf("make a sign-in code: %w", err)
	}
	for n, b := range bits {
		bits[n] = codeLetters[int(b)%len(codeLetters)]
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	var told Token
	told, i.code = i.issue(secret.New(string(bits)))
	i.wrong = 0
	return told, nil
}

func (i *Issuer) issue(text secret.Text) (Token, issued) {
	kept := issued{hash: text.Hash(), expires: i.now().Add(TokenLife), used: make(chan struct{})}
	return Token{Secret: text, Expires: kept.expires, Used: kept.used}, kept
}

// RedeemLink uses up the link with this secret; false: no link has it, or it has
// expired.
func (i *Issuer) RedeemLink(text secret.Text) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, l := range i.links {
		if l.hash.Equal(text.Hash()) {
			i.links = slices.Delete(i.links, n, n+1)
			return i.redeem(l)
		}
	}
	return false
}

// RedeemCode uses up the live code if this is it. Letter case, hyphens and blanks
// do not count; 0, 1 and 8, which no code has, stand for O, I and B.
func (i *Issuer) RedeemCode(typed string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	live := i.code
	if live == (issued{}) {
		return false
	}
	read := strings.NewReplacer("-", "", " ", "", "0", "O", "1", "I", "8", "B").Replace(strings.ToUpper(typed))
	if live.hash.Equal(secret.New(read).Hash()) {
		i.code = issued{}
		return i.redeem(live)
	}
	if i.wrong++; i.wrong == MaxWrongCodes {
		i.code = issued{}
	}
	return false
}

// redeem reports whether t is still good, and closes its channel Used.
func (i *Issuer) redeem(t issued) bool {
	if !i.now().Before(t.expires) {
		return false
	}
	close(t.used)
	return true
}

// randomBits reads n bytes.
func randomBits(random io.Reader, n int) ([]byte, error) {
	bits := make([]byte, n)
	if _, err := io.ReadFull(random, bits); err != nil {
		return nil, fmt.Errorf("read random bits: %w", err)
	}
	return bits, nil
}
