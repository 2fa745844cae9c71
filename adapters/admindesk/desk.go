// Package admindesk is the part of the owner's page that shows the personal host:
// conversations, what was said in them, and the owner's lists. It turns what the
// host knows into views and forms into what the host does; adapters/adminweb
// serves them, behind its defences.
//
//	GET  conversations               list; ?from=N, ?q=words
//	POST conversations               title=                       a new chat
//	POST conversations/remember      on=true|false
//	GET  conversations/{id}          ?before=seq
//	POST conversations/{id}          text=
//	GET, POST conversations/{id}/clear, conversations/{id}/delete, topics/delete
//	GET  lists, lists/{list}         todos, ideas, goals, about
//	POST lists/{list}                title= of a new entry; about= and version=
//	GET, POST lists/{list}/{id}      the form of an entry
//	POST lists/{list}/{id}/status    status=, version=
//	POST lists/ideas/{id}/convert    target=, version=
//
// Paths are below the session's prefix.
package admindesk

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/web"
)

// View draws one page of a session.
type View func(r *http.Request, f web.Frame) (templ.Component, error)

// Action changes something and says where to go, below the session's prefix.
type Action func(r *http.Request) (target string, err error)

// Page is a view at its place in the navigation.
type Page struct {
	Place web.Place
	Draw  View
}

// Redrawn is the error of an action that draws a page instead of leading on: a
// form whose content is at fault.
type Redrawn Page

func (Redrawn) Error() string { return "form at fault" }

// ErrNotHere: no such page, or the thing it was about is gone.
var ErrNotHere = errors.New("no such page")

// Owner is the personal host as its owner uses it, in small parts:
// *personal.Host. A refusal is a workbench.Refusal, a conversation that is not
// there ports.ErrConversationUnknown.
type Owner interface {
	Reading
	Talking
	Clearing
	Listing
	Remembering
}

// Reading looks conversations up. Conversations gives the most recently updated
// first, Messages the oldest of its page first.
type Reading interface {
	Conversations(ctx context.Context, offset, limit int) (list []conversations.Conversation, total int, err error)
	Conversation(ctx context.Context, id string) (conversations.Conversation, conversations.Background, error)
	Messages(ctx context.Context, id string, before int64, limit int) ([]conversations.Message, error)
	SearchMessages(ctx context.Context, text string, limit int) ([]ports.FoundMessage, error)
}

// Talking adds to what was said. Input says whether anybody would answer.
type Talking interface {
	SubmitText(ctx context.Context, conversationID, text string) error
	CreateChat(ctx context.Context, title string) (id string, err error)
	Input() nova.Input
}

// Clearing takes away what was said.
type Clearing interface {
	Clear(ctx context.Context, id string) error
	Delete(ctx context.Context, id string) error
	DeleteTopics(ctx context.Context) (n int, err error)
}

// Listing keeps the owner's lists.
type Listing interface {
	Lists(ctx context.Context) (items []workbench.Item, profile workbench.Profile, err error)
	MutateLife(ctx context.Context, requestID string, op workbench.LifeOp) (workbench.LifeOutcome, error)
}

// Remembering says how much is kept, and whether questions from the browser are.
type Remembering interface {
	Sizes(ctx context.Context) (ports.PersonalSizes, error)
	Recording() (on, fixed bool)
	SetRecording(ctx context.Context, on bool) error
	Changed() <-chan struct{} // closed at the next change of anything here
}

// Desk is the views and actions before one host.
type Desk struct {
	owner   Owner
	words   web.Words
	fixedBy string
}

// New builds a desk. fixedBy names what sets the recording of questions above
// the page, for where it is fixed.
func New(owner Owner, words web.Words, fixedBy string) *Desk { return &Desk{owner, words, fixedBy} }

// Pages gives every page by its path.
func (d *Desk) Pages() map[string]Page {
	conversation := func(draw View) Page { return Page{web.ConversationsPlace, draw} }
	list := func(draw View) Page { return Page{web.ListsPlace, draw} }
	return map[string]Page{
		"conversations":             conversation(d.conversations),
		"conversations/{id}":        conversation(d.talk),
		"conversations/{id}/clear":  conversation(d.confirmClear),
		"conversations/{id}/delete": conversation(d.confirmDelete),
		"topics/delete":             conversation(d.confirmTopics),
		"lists":                     list(d.todos),
		"lists/{list}":              list(d.list),
		"lists/{list}/{id}":         list(d.entry),
		"lists/{list}/{id}/status":  list(d.list), // where a refusal is drawn, and refreshed
		"lists/ideas/{id}/convert":  list(d.ideas),
	}
}

// Actions gives every action by its path.
func (d *Desk) Actions() map[string]Action {
	return map[string]Action{
		"conversations":             d.newChat,
		"conversations/remember":    d.remember,
		"conversations/{id}":        d.write,
		"conversations/{id}/clear":  d.clear,
		"conversations/{id}/delete": d.delete,
		"topics/delete":             d.deleteTopics,
		"lists/about":               d.describe,
		"lists/{list}":              d.addEntry,
		"lists/{list}/{id}":         d.saveEntry,
		"lists/{list}/{id}/status":  d.setStatus,
		"lists/ideas/{id}/convert":  d.convert,
	}
}

// Kept says how much the host keeps.
func (d *Desk) Kept(ctx context.Context) (web.Kept, error) {
	sizes, err := d.owner.Sizes(ctx)
	return web.Kept{
		Conversations: sizes.Conversations, Topics: sizes.Topics, Messages: sizes.Messages, MessageBytes: sizes.MessageBytes,
	}, err
}

// Changed gives a channel that is closed at the next change of what is shown.
func (d *Desk) Changed() <-chan struct{} { return d.owner.Changed() }

// Said gives the sentence for a refusal; ok is false for any other error.
func Said(w web.Words, err error) (sentence string, ok bool) {
	var refusal workbench.Refusal
	if !errors.As(err, &refusal) {
		return "", false
	}
	if sentence, ok = w.Refusals[string(refusal)]; ok {
		return sentence, true
	}
	return w.ServerProblem + ": " + string(refusal), true
}
