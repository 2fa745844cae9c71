package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"plexus/cmd/plexus/cli"
	"plexus/domain/framing"
	"plexus/domain/pages"
)

// maxPiped bounds a text that is piped in, in bytes: the host looks at no more of a
// page.
const maxPiped = pages.MaxTextBytes

// fillContext reads the page's text from standard input where the flag says so, and
// refuses an address that no browser shows.
func fillContext(env cli.Env, c *framing.PageContext) error {
	if _, ok := pages.CanonicalURL(c.URL); c.URL != "" && !ok {
		return cli.Usagef("--url has to be the address of a web page, beginning with http:// or https://")
	}
	if c.Extract != "-" {
		return nil
	}
	if cli.IsTerminal(env.Stdin) {
		return cli.Usagef(`--extract - takes the text from another command, and nothing is piped in. Like this: plexus ask "your question" --extract - < page.txt`)
	}
	text, err := io.ReadAll(io.LimitReader(env.Stdin, maxPiped+1))
	if err != nil {
		return fmt.Errorf("reading the text that is piped in: %w", err)
	}
	c.Extract = strings.TrimPrefix(string(text), "\ufeff")
	switch {
	case len(text) > maxPiped:
		return fmt.Errorf("the text that is piped in has more than %d KiB: give the part that the question is about, for example by head -c %d", maxPiped>>10, maxPiped)
	case !utf8.ValidString(c.Extract), strings.ContainsRune(c.Extract, 0):
		return fmt.Errorf("what is piped in is no text in UTF-8: turn it into plain text first")
	case strings.TrimSpace(c.Extract) == "":
		return fmt.Errorf("what is piped in is empty")
	}
	return nil
}

// waiting tells a person at a terminal that the answer is still to come, on a line that
// goes away with the first word. The zero value tells nothing.
type waiting struct {
	w     io.Writer // nil: no person is there
	shown bool
}

const waitingLine = "Waiting for the answer. Ctrl-C stops it."

func (w *waiting) show() {
	if w.w != nil && !w.shown {
		w.shown = true
		_, _ = io.WriteString(w.w, waitingLine) // a terminal that is gone is no reason to fail
	}
}

// clear writes blanks over the line, which every terminal understands.
func (w *waiting) clear() {
	if w.shown {
		w.shown = false
		_, _ = fmt.Fprintf(w.w, "\r%*s\r", len(waitingLine), "")
	}
}
