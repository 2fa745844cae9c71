package adminweb

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
	TicketLife    = 60 * time.Second
	MaxWrongCodes = 5 // the fifth voids the code
	CodeLength    = 10
	maxLinks      = 8 // live at once; one more drops the oldest
)

// codeLetters is base32 as in RFC 4648.
const codeLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

// Ticket is one way to sign in.
type Ticket struct {
	Secret  secret.Text
	Expires time.Time
	Spent   <-chan struct{} // closed once somebody has signed in with it
}

// SignIn gives out links and codes that each sign one browser in. The secret of a
// link has 64 hex digits. Of codes one is live at a time. All methods may be
// called concurrently.
type SignIn struct {
	now    func() time.Time
	random io.Reader

	mu    sync.Mutex
	links []ticket // oldest first
	code  ticket   // its hash is zero when there is none
	wrong int      // tries at code that failed
}

type ticket struct {
	hash    secret.Hash
	expires time.Time
	spent   chan struct{}
}

// NewSignIn makes one with nothing live. random must be safe to read concurrently.
func NewSignIn(now func() time.Time, random io.Reader) *SignIn {
	return &SignIn{now: now, random: random}
}

// Link makes a ticket for the fragment of an address: /#open=<secret>.
func (s *SignIn) Link() (Ticket, error) {
	bits, err := randomBits(s.random, 32)
	if err != nil {
		return Ticket{}, fmt.Errorf("make a sign-in link: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told, kept := s.issue(secret.New(hex.EncodeToString(bits)))
	if len(s.links) == maxLinks {
		s.links = slices.Delete(s.links, 0, 1)
	}
	s.links = append(s.links, kept)
	return told, nil
}

// Code makes a ticket that a person types: CodeLength letters and digits. The
// code before it is void from now on.
func (s *SignIn) Code() (Ticket, error) {
	bits, err := randomBits(s.random, CodeLength)
	if err != nil {
		return Ticket{}, fmt.Errorf("make a sign-in code: %w", err)
	}
	for i, b := range bits {
		bits[i] = codeLetters[int(b)%len(codeLetters)]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var told Ticket
	told, s.code = s.issue(secret.New(string(bits)))
	s.wrong = 0
	return told, nil
}

func (s *SignIn) issue(text secret.Text) (Ticket, ticket) {
	kept := ticket{hash: text.Hash(), expires: s.now().Add(TicketLife), spent: make(chan struct{})}
	return Ticket{Secret: text, Expires: kept.expires, Spent: kept.spent}, kept
}

// RedeemLink spends the link whose secret this is; false: there is none, or it
// has expired.
func (s *SignIn) RedeemLink(text secret.Text) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range s.links {
		if l.hash.Equal(text.Hash()) {
			s.links = slices.Delete(s.links, i, i+1)
			return s.spend(l)
		}
	}
	return false
}

// RedeemCode spends the live code if this is it. Letter case, hyphens and blanks
// do not count; 0, 1 and 8, which no code has, stand for O, I and B.
func (s *SignIn) RedeemCode(typed string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := s.code
	if live == (ticket{}) {
		return false
	}
	if live.hash.Equal(secret.New(readCode(typed)).Hash()) {
		s.code = ticket{}
		return s.spend(live)
	}
	if s.wrong++; s.wrong == MaxWrongCodes {
		s.code = ticket{}
	}
	return false
}

func (s *SignIn) spend(t ticket) bool {
	if !s.now().Before(t.expires) {
		return false
	}
	close(t.spent)
	return true
}

func readCode(typed string) string {
	return strings.NewReplacer("-", "", " ", "", "0", "O", "1", "I", "8", "B").Replace(strings.ToUpper(typed))
}

// randomBits reads n bytes.
func randomBits(random io.Reader, n int) ([]byte, error) {
	bits := make([]byte, n)
	if _, err := io.ReadFull(random, bits); err != nil {
		return nil, fmt.Errorf("read random bits: %w", err)
	}
	return bits, nil
}
