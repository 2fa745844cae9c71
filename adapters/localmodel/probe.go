package localmodel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// place is a server that was found, with its models that may chat, in its order.
type place struct {
	at     Found // without Name
	models []string
}

// loopbacks are the addresses of this machine at which a server may listen, the one that
// is preferred first.
func loopbacks() []string { return []string{"127.0.0.1", "::1"} }

// askAll looks at all candidates at once, at each address of this machine, and keeps
// their order.
func (a *Auto) askAll(ctx context.Context) []place {
	hosts := loopbacks()
	slots := make([]*place, len(a.candidates)*len(hosts))
	var wg sync.WaitGroup
	for i := range slots {
		c, host := a.candidates[i/len(hosts)], hosts[i%len(hosts)]
		wg.Go(func() {
			p, err := a.ask(ctx, c, host)
			if err != nil {
				a.log.Debug("no local model here", "server", c.Server, "host", host, "port", c.Port, "error", err)
				return
			}
			slots[i] = &p
		})
	}
	wg.Wait()
	var found []place
	for _, p := range slots {
		if p != nil && !slices.ContainsFunc(found, func(q place) bool { // one server at both addresses
			return q.at.port == p.at.port && slices.Equal(q.models, p.models)
		}) {
			found = append(found, *p)
		}
	}
	return found
}

// ask reads the list of models at one place.
func (a *Auto) ask(ctx context.Context, c Candidate, host string) (place, error) {
	base := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(c.Port)), Path: "/v1"}
	client := outbound.NewClient(base, a.dial)
	defer client.CloseIdleConnections()
	rows, server, err := fetchModels(ctx, client, base, "")
	if err != nil {
		return place{}, fmt.Errorf("asking for models: %w", err)
	}
	models, err := chooseModels(rows, server, c.Mark)
	if err != nil {
		return place{}, err
	}
	ours, err := a.isOurs(c.Port)
	if err != nil {
		a.log.Warn("owner of a local model server not known", "port", c.Port, "error", err)
	}
	return place{Found{BaseURL: base.String(), Server: c.Server, Ours: ours && err == nil, port: c.Port}, models}, nil
}

// chooseModels gives the models of a list that may chat.
func chooseModels(rows []listedModel, server, mark string) ([]string, error) {
	marked := mark == "" || hasMark(server, mark)
	var names []string
	for _, row := range rows {
		marked = marked || hasMark(row.OwnedBy, mark)
		if mayChat(row.ID) && len(names) < maxModels {
			names = append(names, row.ID)
		}
	}
	switch {
	case !marked:
		return nil, errors.New("another program is on this port")
	case len(names) == 0:
		return nil, errors.New("no chat model in the list")
	}
	return names, nil
}

// maxModels bounds what is kept of a list.
const maxModels = 256

// hasMark compares product names as people write them: llama.cpp, llamacpp.
func hasMark(name, mark string) bool {
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), ".", "") }
	return strings.Contains(fold(name), fold(mark))
}

// mayChat goes by the name, which is all that the list gives; whether a model chats is
// seen when it is asked. One whose name holds cloud is only relayed by the local server
// to another machine.
func mayChat(name string) bool {
	lower := strings.ToLower(name)
	return isShowable(name) && !slices.ContainsFunc([]string{"embed", "rerank", "cloud"}, func(no string) bool { return strings.Contains(lower, no) })
}
