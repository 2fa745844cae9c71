package localmodel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"plexus/adapters/outbound"
	"plexus/domain/text"
	"plexus/ports"
)

// ErrDoubtful: the server answers, and a question may fail all the same.
var ErrDoubtful = errors.New("questions may fail")

var errNoList = errors.New("it is no list of models")

// listedModel is a row of a server's list of models.
type listedModel struct {
	ID      string `json:"id"`
	OwnedBy string `json:"owned_by"`
}

// fetchModels reads the list of models below base, and the name that the server gives
// itself.
func fetchModels(ctx context.Context, client *http.Client, base *url.URL, key string) (rows []listedModel, server string, err error) {
	req, err := newRequest(ctx, http.MethodGet, base.JoinPath("models"), key, nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", safeCause(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		refused := readError(resp.StatusCode, outbound.Bounded(resp.Body, MaxEvent, errReplyTooBig))
		refused.clean(key, ports.Prompt{}, "")
		return nil, "", refused
	}
	raw, err := io.ReadAll(outbound.Bounded(resp.Body, maxModelList, errReplyTooBig))
	if err != nil {
		return nil, "", safeCause(err)
	}
	var list struct {
		Data *[]listedModel `json:"data"`
	}
	if err := json.Unmarshal(raw, &list); err != nil || list.Data == nil {
		return nil, "", errNoList
	}
	return *list.Data, resp.Header.Get("Server"), nil
}

// maxModelList bounds a list of models, in bytes: that of a service with hundreds of
// models describes each at length.
const maxModelList = 8 << 20

// Check asks the server for its list of models, by the client, proxy and key of a
// question; that costs nothing. The error says why questions fail, and wraps ErrDoubtful
// where they may succeed.
func (g *Generator) Check(ctx context.Context) error {
	rows, _, err := fetchModels(ctx, g.http, g.base, g.key())
	var refused *serverError
	switch {
	case err == nil && lists(rows, g.model):
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s", ErrDoubtful, notListed(rows, g.model))
	case ctx.Err() != nil:
		return errors.New("it did not answer in time")
	case errors.Is(err, errNoList), errors.As(err, &refused) && noSuchPath(refused.status):
		if found := g.findPath(ctx); found != nil {
			return found
		}
		return fmt.Errorf("%w: it has no list of models at this address (%w); see that the path is right, which mostly ends in /v1", ErrDoubtful, err)
	}
	return fmt.Errorf("asking for its models: %w", err)
}

// noSuchPath takes the statuses of a server that does not know what it was asked for.
func noSuchPath(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// findPath looks whether the list of models is one folder deeper, and then says so.
func (g *Generator) findPath(ctx context.Context) error {
	if path.Base(g.base.Path) == "v1" {
		return nil
	}
	deeper := g.base.JoinPath("v1")
	if _, _, err := fetchModels(ctx, g.http, deeper, g.key()); err != nil {
		return nil
	}
	return fmt.Errorf("the base URL lacks /v1 at its end: set base_url to %s", deeper)
}

// pathLimit bounds what explain adds to a failure.
const pathLimit = 2 * time.Second

// explain tells more about some errors that a server reports: which limit helps, or which
// part of the address is wrong.
func (g *Generator) explain(ctx context.Context, err error) error {
	var refused *serverError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.contextTooLong():
		return fmt.Errorf("%w: %w", errContextTooLong, err)
	case refused.status != http.StatusNotFound:
		return err
	}
	ctx, stop := context.WithTimeout(ctx, pathLimit)
	defer stop()
	switch rows, _, listErr := fetchModels(ctx, g.http, g.base, g.key()); {
	case listErr == nil && !lists(rows, g.model):
		return fmt.Errorf("%s: %w", notListed(rows, g.model), err)
	case listErr == nil:
		return fmt.Errorf("the server lists the model and does not chat with it: %w", err)
	}
	if found := g.findPath(ctx); found != nil {
		return fmt.Errorf("%w: %w", found, err)
	}
	return fmt.Errorf("nothing answers at the path of base_url, which mostly ends in /v1: %w", err)
}

// tryLimit bounds one tryChat.
const tryLimit = 5 * time.Second

// tryChat asks the model for one token of an answer. A *serverError that refusesChat
// says that it does not chat; nil, that it does; any other error says nothing.
func (g *Generator) tryChat(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, tryLimit)
	defer stop()
	body, err := g.request(ports.Prompt{User: "Hi"}, 1)
	if err != nil {
		return err
	}
	resp, err := g.post(ctx, body)
	if err != nil {
		return safeCause(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	refused := readError(resp.StatusCode, resp.Body)
	refused.clean(g.key(), ports.Prompt{}, "")
	return refused
}

// refusesChat reports whether a server has answered as one does whose model does not
// chat. Only some of these errors mean that: tryChat tells.
func refusesChat(err error) bool {
	var refused *serverError
	return errors.As(err, &refused) && !refused.contextTooLong() && (refused.status == http.StatusBadRequest || noSuchPath(refused.status))
}

// lists reports whether a model is in a list. Ollama lists a model that has no tag with
// one.
func lists(rows []listedModel, model string) bool {
	for _, row := range rows {
		if row.ID == model || row.ID == model+":latest" {
			return true
		}
	}
	return false
}

// shownModels is how many models of a server are named.
const shownModels = 5

// notListed says which models a server has instead of one.
func notListed(rows []listedModel, model string) string {
	var names []string
	more := 0
	for _, row := range rows {
		switch {
		case !isShowable(row.ID):
		case len(names) == shownModels:
			more++
		default:
			names = append(names, text.Truncate(row.ID, 60))
		}
	}
	has := cmp.Or(strings.Join(names, ", "), "none")
	if more > 0 {
		has += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("the server lists no model %q; it has %s", model, has)
}

const maxModelName = 200

// isShowable refuses a name that does not print and could mislead where it is shown.
func isShowable(name string) bool {
	return strings.TrimSpace(name) != "" && len(name) <= maxModelName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
