package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"plexus/adapters/nerveclient"
	"plexus/cmd/plexus/cli"
	"plexus/cmd/plexus/hostclient"
	"plexus/domain/answers"
	"plexus/domain/framing"
	"plexus/domain/text"
)

const askNotes = `Asks the running host. The results are printed first, numbered as the answer
quotes them, then the answer as it comes. Ctrl-C stops it at the host too. The
flags may come before or after the question. --extract - takes the text of the page
from standard input, at most 64 KiB of it.`

// maxResultsAsked is the default of --max-results.
const maxResultsAsked = 5

// errNoAnswer: nothing but a notice came, or less than a whole answer. What
// there was has been printed.
var errNoAnswer = errors.New("there is no complete answer")

func runAsk(ctx context.Context, env cli.Env, args []string) error {
	fs := cli.NewFlags(`ask [flags] "question"`, askNotes)
	dataDir := fs.DataDir(env)
	var q framing.SearchQuery
	fs.StringVar(&q.Context.URL, "url", "", "address of the `page` that the question is about")
	fs.StringVar(&q.Context.Title, "title", "", "`title` of that page")
	fs.StringVar(&q.Context.Selection, "selection", "", "`text` that is selected on it")
	fs.StringVar(&q.Context.Extract, "extract", "", "`text` of the page; - takes it from standard input")
	fs.IntVar(&q.MaxResults, "max-results", maxResultsAsked, fmt.Sprintf("`number` of results, 1 to %d", framing.MaxResults))
	noSearch := fs.Bool("no-search", false, "answer from the page alone")
	asJSON := fs.Bool("json", false, "print one JSON object when everything is there")
	words, err := fs.Parse(env, args)
	if err != nil {
		return err
	}
	q.Query, q.Search = strings.TrimSpace(strings.Join(words, " ")), !*noSearch
	switch {
	case q.Query == "":
		return cli.Usagef(`ask what? Like this: plexus ask "your question"`)
	case q.MaxResults < 1 || q.MaxResults > framing.MaxResults:
		return cli.Usagef("--max-results has to be a number from 1 to %d", framing.MaxResults)
	}
	if err := fillContext(env, &q.Context); err != nil {
		return err
	}
	dir, err := dataDir()
	if err != nil {
		return err
	}
	return askHost(ctx, env, dir, q, *asJSON)
}

func askHost(ctx context.Context, env cli.Env, dataDir string, q framing.SearchQuery, asJSON bool) error {
	client, err := hostclient.DialNERVE(ctx, env, dataDir)
	if err != nil {
		return err
	}
	defer client.Close() // the answer is there, or its error
	out := newPrinter(env.Stdout)
	if asJSON {
		out = newPrinter(io.Discard)
	}
	if cli.IsTerminal(env.Stderr) {
		out.waiting.w = env.Stderr
	}
	out.waiting.show()
	err = client.Ask(ctx, q, nerveclient.Receiver{Results: out.results, Token: out.token})
	out.end()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.Is(err, nerveclient.ErrClosed):
		return fmt.Errorf("asking the host: %w", err)
	case err != nil:
		out.answer.Complete = false
	}
	if asJSON {
		if err := cli.WriteJSON(env.Stdout, out.answer, ""); err != nil {
			return err
		}
	}
	return out.verdict(err)
}

// askedAnswer is what --json prints. Its texts are as they came.
type askedAnswer struct {
	Results  []askedResult `json:"results"`
	TookMS   int64         `json:"took_ms"` // of the search; 0 without one
	Answer   string        `json:"answer"`
	Complete bool          `json:"complete"`
	Notice   string        `json:"notice"` // one of the host's fixed sentences, or ""
}

type askedResult struct {
	URL     string  `json:"url"`
	Title   string  `json:"title"`
	Snippet string  `json:"snippet"`
	Score   float32 `json:"score"`
}

// printer shows an answer as it comes and remembers it. Nothing from outside
// reaches the terminal without being made harmless.
type printer struct {
	w          io.Writer
	answer     askedAnswer
	answerText strings.Builder
	midway     bool // the last line has no end yet
	waiting    waiting
}

func newPrinter(w io.Writer) *printer {
	return &printer{w: w, answer: askedAnswer{Results: []askedResult{}}}
}

func (o *printer) results(r framing.SearchResult) {
	o.waiting.clear()
	defer o.waiting.show()
	o.answer.TookMS = r.TookMS
	for i, one := range r.Results {
		o.answer.Results = append(o.answer.Results, askedResult(one))
		o.printf("[%d] %s\n    %s\n", i+1, text.Printable(one.Title), text.Printable(one.URL))
		if one.Snippet != "" {
			o.printf("    %s\n", text.Printable(text.TruncateRunes(one.Snippet, 200)))
		}
	}
	if len(r.Results) > 0 {
		o.printf("\n")
	}
}

func (o *printer) token(piece string, final bool) {
	if kind, isNotice := answers.IsNotice(piece); final && isNotice {
		o.answer.Notice = strings.TrimSpace(piece)
		o.answer.Complete = !kind.Unfinished() && o.answerText.Len() > 0
	} else {
		o.answer.Complete = final
		o.answerText.WriteString(piece)
	}
	if piece != "" {
		o.waiting.clear()
		o.printf("%s", text.PrintableLines(piece))
		o.midway = !strings.HasSuffix(piece, "\n")
	}
}

// end closes the last line.
func (o *printer) end() {
	o.waiting.clear()
	o.answer.Answer = o.answerText.String()
	if o.midway {
		o.printf("\n")
		o.midway = false
	}
}

// verdict decides whether the command has done what it was asked for.
func (o *printer) verdict(err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("the host ended before the answer did: %w", err)
	case o.answer.Complete && (o.answer.Answer != "" || len(o.answer.Results) > 0):
		return nil
	}
	return errNoAnswer
}

func (o *printer) printf(format string, args ...any) { _, _ = fmt.Fprintf(o.w, format, args...) }
