package admindesk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/text"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/web"
)

// Sizes of pages.
const (
	listSize = 50
	talkSize = 100
)

// conversations draws the list. Main chat and reminders stand first, wherever
// they are among the others.
func (d *Desk) conversations(r *http.Request, f web.Frame) (templ.Component, error) {
	ctx, query := r.Context(), r.URL.Query()
	if asked := strings.TrimSpace(query.Get("q")); asked != "" {
		return d.search(ctx, f, asked)
	}
	from := int(max(whole(query.Get("from")), 0))
	list, total, err := d.owner.Conversations(ctx, from, listSize)
	if err != nil {
		return nil, err
	}
	v := web.Conversations{From: from, Size: listSize, Total: total, Topics: total > 2, Input: inputOf(d.owner.Input())}
	for _, c := range list {
		if !c.Permanent() {
			v.Rest = append(v.Rest, conversation(c))
		}
	}
	if from == 0 {
		for _, id := range []string{conversations.MainID, conversations.ProactiveID} {
			c, _, err := d.owner.Conversation(ctx, id)
			if err != nil {
				return nil, err
			}
			v.Pinned = append(v.Pinned, conversation(c))
		}
	}
	on, fixed := d.owner.Recording()
	if v.Recording = on; fixed {
		v.FixedBy = text.Printable(d.fixedBy)
	}
	return web.ConversationsPage(f, v), nil
}

func conversation(c conversations.Conversation) web.Conversation {
	return web.Conversation{
		ID: c.ID, Kind: kindOf(c), Title: text.Printable(c.Title), Address: linkable(c.SubjectKey), Unread: c.Unread, Updated: c.UpdatedAt,
	}
}

func kindOf(c conversations.Conversation) web.ConversationKind {
	switch {
	case c.ID == conversations.MainID:
		return web.MainChat
	case c.Kind == conversations.Proactive:
		return web.Reminders
	case c.Kind == conversations.Topic:
		return web.Topic
	}
	return web.Chat
}

// linkable gives the address of a page, and "" for what is no http or https
// address (decision G15).
func linkable(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return text.Printable(address)
}

func inputOf(in nova.Input) web.Input {
	switch in {
	case nova.NoInput:
		return web.NoInput
	case nova.TextAndDictation:
		return web.AllInput
	}
	return web.TextInput
}

// talk draws one conversation: its newest messages, or those before one of them.
func (d *Desk) talk(r *http.Request, f web.Frame) (templ.Component, error) {
	return d.talkWith(r, f, "", "")
}

// talkWith draws it with what was typed and why that was not taken.
func (d *Desk) talkWith(r *http.Request, f web.Frame, draft, fault string) (templ.Component, error) {
	ctx, id := r.Context(), r.PathValue("id")
	c, about, err := d.owner.Conversation(ctx, id)
	if err != nil {
		return nil, err
	}
	before := max(whole(r.URL.Query().Get("before")), 0)
	messages, err := d.owner.Messages(ctx, id, before, talkSize+1)
	if err != nil {
		return nil, err
	}
	v := web.Talk{Conversation: conversation(c), Past: before > 0, Quoted: about.Text != "", Input: inputOf(d.owner.Input()), Draft: draft, Fault: fault}
	if address := linkable(about.URL); address != "" {
		v.Conversation.Address = address
	}
	if len(messages) > talkSize {
		messages, v.Older = messages[1:], true
	}
	for _, m := range messages {
		v.Messages = append(v.Messages, message(m))
	}
	return web.TalkPage(f, v), nil
}

func message(m conversations.Message) web.Message {
	v := web.Message{Seq: m.Seq, Said: roleOf(m), Text: text.PrintableLines(m.Text), At: m.CreatedAt}
	switch m.Status {
	case conversations.Pending:
		v.State = web.MessageWaiting
	case conversations.Failed:
		v.State = web.MessageFailed
	case conversations.Interrupted:
		v.State = web.MessageInterrupted
	case conversations.Completed:
	}
	if m.Delivery == conversations.CutOff {
		v.State = web.MessageCutOff
	}
	return v
}

func roleOf(m conversations.Message) web.Role {
	if m.Role == conversations.User {
		return web.Owner
	}
	return web.Host
}

// write submits what was typed without script. What is refused stays in the form.
func (d *Desk) write(r *http.Request) (string, error) {
	id, typed := r.PathValue("id"), lines(r.PostForm.Get("text"))
	err := error(workbench.InvalidRequest)
	if strings.TrimSpace(typed) != "" && jsonform.UnitCount(typed) <= nova.MaxInputUnits {
		err = d.owner.SubmitText(r.Context(), id, typed)
	}
	if said, refused := Said(d.words, err); refused && !errors.Is(err, workbench.ConversationNotFound) {
		return "", Redrawn{web.ConversationsPlace, func(r *http.Request, f web.Frame) (templ.Component, error) {
			return d.talkWith(r, f, typed, said)
		}}
	}
	return web.TalkPath(id) + "#end", missing(err)
}

func (d *Desk) newChat(r *http.Request) (string, error) {
	id, err := d.owner.CreateChat(r.Context(), conversations.NewTitle(r.PostForm.Get("title")))
	if err != nil {
		return "", err
	}
	return web.TalkPath(id), nil
}

func (d *Desk) remember(r *http.Request) (string, error) {
	on := r.PostForm.Get("on") == "true"
	done := "not-recording"
	if on {
		done = "recording"
	}
	return "conversations?done=" + done, d.owner.SetRecording(r.Context(), on)
}

func (d *Desk) confirmClear(r *http.Request, f web.Frame) (templ.Component, error) {
	return d.confirm(r, f, "/clear", d.words.ClearTitle, d.words.ClearLead, d.words.ClearButton)
}

func (d *Desk) confirmDelete(r *http.Request, f web.Frame) (templ.Component, error) {
	return d.confirm(r, f, "/delete", d.words.DeleteTitle, d.words.DeleteLead, d.words.DeleteButton)
}

// confirm asks before something that a conversation does not survive whole.
func (d *Desk) confirm(r *http.Request, f web.Frame, verb, title, lead, button string) (templ.Component, error) {
	c, _, err := d.owner.Conversation(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if verb == "/delete" && c.Permanent() {
		return nil, ErrNotHere
	}
	return web.ConfirmPage(f, web.Confirm{
		Title: fmt.Sprintf(title, f.Heading(conversation(c))), Lead: lead, Button: button,
		Action: web.TalkPath(c.ID) + verb, Back: web.Place(web.TalkPath(c.ID)),
	}), nil
}

func (d *Desk) confirmTopics(_ *http.Request, f web.Frame) (templ.Component, error) {
	return web.ConfirmPage(f, web.Confirm{
		Title: d.words.DropTopicsTitle, Lead: d.words.DropTopicsLead, Button: d.words.DropTopicsButton,
		Action: "topics/delete", Back: web.ConversationsPlace,
	}), nil
}

func (d *Desk) clear(r *http.Request) (string, error) {
	id := r.PathValue("id")
	return web.TalkPath(id) + "?done=cleared", missing(d.owner.Clear(r.Context(), id))
}

func (d *Desk) delete(r *http.Request) (string, error) {
	return "conversations?done=deleted", missing(d.owner.Delete(r.Context(), r.PathValue("id")))
}

func (d *Desk) deleteTopics(r *http.Request) (string, error) {
	_, err := d.owner.DeleteTopics(r.Context())
	return "conversations?done=topics-deleted", err
}

// missing makes one error of the two that say that a conversation is gone.
func missing(err error) error {
	if errors.Is(err, workbench.ConversationNotFound) {
		return ports.ErrConversationUnknown
	}
	return err
}

// search draws the messages that have all words of asked.
func (d *Desk) search(ctx context.Context, f web.Frame, asked string) (templ.Component, error) {
	found, err := d.owner.SearchMessages(ctx, asked, listSize)
	if err != nil {
		return nil, err
	}
	v := web.Conversations{Asked: text.Printable(asked), Most: len(found) == listSize}
	for _, m := range found {
		before, match, after := around(m.Text, asked)
		c := conversations.Conversation{ID: m.ConversationID, Title: m.Title}
		v.Found = append(v.Found, web.Found{
			Conversation: conversation(c), Said: roleOf(m.Message), At: m.CreatedAt,
			Before: text.Printable(before), Match: text.Printable(match), After: text.Printable(after),
		})
	}
	return web.ConversationsPage(f, v), nil
}

// whole reads a number of an address; 0 for what is none.
func whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// lines gives what was typed with the line breaks that everybody else uses.
func lines(typed string) string { return strings.ReplaceAll(typed, "\r\n", "\n") }
