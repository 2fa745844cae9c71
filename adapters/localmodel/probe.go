package localmodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"plexus/adapters/outbound"
)

// Candidate is a place on this machine's loopback where a model server may be.
type Candidate struct {
	Server string // its product name, for people
	Port   int
	// Mark, when not empty, must be in the reply's Server header or be the owner
	// of a listed model: the port alone proves nothing.
	Mark string
}

// Candidates are the usual places (decision D12), in order of preference.
func Candidates() []Candidate {
	return []Candidate{
		{Server: "Ollama", Port: 11434},
		{Server: "LM Studio", Port: 1234},
		{Server: "llama.cpp", Port: 8080, Mark: "llama.cpp"},
	}
}

// Found is a model that runs on this machine.
type Found struct {
	Name    string // printable, at most 200 bytes
	BaseURL string // "http://127.0.0.1:11434/v1"
	Server  string // product name of the place where it was found
	Ours    bool   // its listener belongs to this user: it is used without asking
	port    int
}

// ConfigLines are the lines of the configuration file that take f.
func (f Found) ConfigLines() string {
	return fmt.Sprintf("[model]\nkind = \"openai\"\nbase_url = %s\nname = %s\n", quoteTOML(f.BaseURL), quoteTOML(f.Name))
}

// quoteTOML quotes printable text as a TOML basic string.
func quoteTOML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

const maxModelName = 200

// askAll looks at all candidates at once and keeps their order.
func (a *Auto) askAll(ctx context.Context) []Found {
	slots := make([]*Found, len(a.candidates))
	var wg sync.WaitGroup
	for i, c := range a.candidates {
		wg.Go(func() {
			f, err := a.ask(ctx, c)
			if err != nil {
				a.log.Debug("no local model here", "server", c.Server, "port", c.Port, "error", err)
				return
			}
			slots[i] = &f
		})
	}
	wg.Wait()
	var found []Found
	for _, f := range slots {
		if f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// ask reads the list of models at one place.
func (a *Auto) ask(ctx context.Context, c Candidate) (Found, error) {
	base := &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", c.Port), Path: "/v1"}
	client := outbound.NewClient(base, a.dial)
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("models").String(), nil)
	if err != nil {
		return Found{}, fmt.Errorf("asking for models: %w", err)
	}
	req.Header.Set("User-Agent", "plexus")
	resp, err := client.Do(req)
	if err != nil {
		return Found{}, fmt.Errorf("asking for models: %w", safeCause(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Found{}, fmt.Errorf("asking for models: status %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(outbound.Bounded(resp.Body, MaxEvent, errReplyTooBig))
	if err != nil {
		return Found{}, fmt.Errorf("reading the list of models: %w", safeCause(err))
	}
	name, err := chooseModel(raw, resp.Header.Get("Server"), c.Mark)
	if err != nil {
		return Found{}, err
	}
	ours, err := a.isOurs(c.Port)
	if err != nil {
		a.log.Warn("owner of a local model server not known", "port", c.Port, "error", err)
	}
	return Found{Name: name, BaseURL: base.String(), Server: c.Server, Ours: ours && err == nil, port: c.Port}, nil
}

// chooseModel gives the first chat model of a list.
func chooseModel(raw []byte, serverHeader, mark string) (string, error) {
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", errors.New("the list of models is malformed")
	}
	marked := mark == "" || hasMark(serverHeader, mark)
	name := ""
	for _, m := range list.Data {
		marked = marked || hasMark(m.OwnedBy, mark)
		if name == "" && isChatModel(m.ID) {
			name = m.ID
		}
	}
	switch {
	case !marked:
		return "", errors.New("another program is on this port")
	case name == "":
		return "", errors.New("no chat model in the list")
	}
	return name, nil
}

// hasMark compares product names as people write them: llama.cpp, llamacpp.
func hasMark(name, mark string) bool {
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), ".", "") }
	return strings.Contains(fold(name), fold(mark))
}

// isChatModel goes by the name, which is all that the list gives. A model whose
// name holds cloud is only relayed by the local server to another machine. A
// name that does not print could mislead where it is shown.
func isChatModel(name string) bool {
	if strings.TrimSpace(name) == "" || len(name) > maxModelName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	lower := strings.ToLower(name)
	for _, no := range []string{"embed", "rerank", "cloud"} {
		if strings.Contains(lower, no) {
			return false
		}
	}
	return true
}
