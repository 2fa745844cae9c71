package adminweb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/adapters/adminweb/privacy"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/text"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/web"
)

// Personal is the personal host as its owner uses it on the page. A refusal of any
// of them is a workbench.Refusal.
type Personal struct {
	Conversations Conversations
	Texts         Texts
	Topics        Topics
	Lists         Lists
	// RecordingFixedBy names what sets Topics.Recording above the page, for where it
	// is fixed.
	RecordingFixedBy string
	Privacy          privacy.Config
}

// Conversations is what was said: *chats.Chats. A
// conversation that is not there is ports.ErrConversationUnknown.
type Conversations interface {
	// Conversations gives a part of the list, the most recently updated first.
	Conversations(ctx context.Context, offset, limit int) (list []conversations.Conversation, total int, err error)
	Conversation(ctx context.Context, id string) (conversations.Conversation, conversations.Background, error)
	// Messages gives the last ones before a sequence number, the oldest first; 0 is
	// for the newest.
	Messages(ctx context.Context, id string, before int64, limit int) ([]conversations.Message, error)
	SearchMessages(ctx context.Context, text string, limit int) ([]ports.FoundMessage, error)
	Sizes(ctx context.Context) (ports.PersonalSizes, error)

	CreateChat(ctx context.Context, title string) (id string, err error)
	Clear(ctx context.Context, id string) error
	Delete(ctx context.Context, id string) error
	DeleteTopics(ctx context.Context) (n int, err error)
}

// Texts is the way to add to what was said: *turns.Turns.
type Texts interface {
	// Input says whether anybody would answer.
	Input() nova.Input
	SubmitText(ctx context.Context, conversationID, text string) error
}

// Topics says whether what is asked in the browser is kept: *topics.Topics.
type Topics interface {
	Recording() (on, fixed bool)
	SetRecording(ctx context.Context, on bool) error
}

// Sizes of pages.
const (
	listSize         = 50
	conversationSize = 100 // messages
)

// conversationPages are the list of conversations and each of them.
type conversationPages struct{ *Personal }

// list shows the conversations, or what a search has found. Main chat and reminders
// stand first, wherever they are among the others.
func (p conversationPages) list(r *http.Request, l web.Layout) (response, error) {
	ctx, query, host := r.Context(), r.URL.Query(), p.Conversations
	if asked := strings.TrimSpace(query.Get("q")); asked != "" {
		return p.search(ctx, l, asked)
	}
	from := int(max(parseInt(query.Get("from")), 0))
	list, total, err := host.Conversations(ctx, from, listSize)
	if err != nil {
		return response{}, err
	}
	v := web.Conversations{From: from, Size: listSize, Total: total, Topics: total > 2, Input: inputOf(p.Texts.Input())}
	for _, c := range list {
		if !c.Permanent() {
			v.Rest = append(v.Rest, conversationRow(c))
		}
	}
	if from == 0 {
		for _, id := range []string{conversations.MainID, conversations.ProactiveID} {
			c, _, err := host.Conversation(ctx, id)
			if err != nil {
				return response{}, err
			}
			v.Pinned = append(v.Pinned, conversationRow(c))
		}
	}
	on, fixed := p.Topics.Recording()
	if v.Recording = on; fixed {
		v.FixedBy = text.Printable(p.RecordingFixedBy)
	}
	return show(web.ConversationsPage(l, v))
}

// search shows the messages that have all words of asked.
func (p conversationPages) search(ctx context.Context, l web.Layout, asked string) (response, error) {
	found, err := p.Conversations.SearchMessages(ctx, asked, listSize)
	if err != nil {
		return response{}, err
	}
	v := web.Conversations{Asked: text.Printable(asked), Most: len(found) == listSize}
	for _, m := range found {
		before, match, after := excerpt(m.Text, asked)
		row := messageRow(m.Message)
		v.Found = append(v.Found, web.Found{
			Conversation: conversationRow(conversations.Conversation{ID: m.ConversationID, Title: m.Title}), Role: row.Role, At: row.At,
			Before: text.Printable(before), Match: text.Printable(match), After: text.Printable(after),
		})
	}
	return show(web.ConversationsPage(l, v))
}

func conversationRow(c conversations.Conversation) web.Conversation {
	row := web.Conversation{
		ID: c.ID, Kind: web.Chat, Title: text.Printable(c.Title), Address: linkable(c.SubjectKey), Unread: c.Unread, Updated: c.UpdatedAt,
	}
	switch {
	case c.ID == conversations.MainID:
		row.Kind = web.MainChat
	case c.Kind == conversations.Proactive:
		row.Kind = web.Reminders
	case c.Kind == conversations.Topic:
		row.Kind = web.Topic
	}
	return row
}

// linkable gives the address of a page, and "" for any other address (decision
// G15).
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

// view shows one: its newest messages, or those before one of them.
func (p conversationPages) view(r *http.Request, l web.Layout) (response, error) {
	return p.viewWith(r, l, "", "")
}

// viewWith shows it with what was typed and why that was not taken.
func (p conversationPages) viewWith(r *http.Request, l web.Layout, draft, fault string) (response, error) {
	ctx, id, host := r.Context(), r.PathValue("id"), p.Conversations
	c, about, err := host.Conversation(ctx, id)
	if err != nil {
		return response{}, err
	}
	before := max(parseInt(r.URL.Query().Get("before")), 0)
	messages, err := host.Messages(ctx, id, before, conversationSize+1)
	if err != nil {
		return response{}, err
	}
	v := web.ConversationView{
		Conversation: conversationRow(c), Past: before > 0, Quoted: about.Text != "", Input: inputOf(p.Texts.Input()), Draft: draft, Fault: fault,
		Search: p.Privacy.CanAskElsewhere(),
	}
	if address := linkable(about.URL); address != "" {
		v.Conversation.Address = address
	}
	if len(messages) > conversationSize {
		messages, v.Older = messages[1:], true
	}
	for _, m := range messages {
		v.Messages = append(v.Messages, messageRow(m))
	}
	return show(web.ConversationPage(l, v))
}

func messageRow(m conversations.Message) web.Message {
	row := web.Message{Seq: m.Seq, Role: web.Host, Text: text.PrintableLines(m.Text), At: m.CreatedAt}
	if m.Role == conversations.User {
		row.Role = web.Owner
	}
	switch m.Status {
	case conversations.Pending:
		row.State = web.MessageWaiting
	case conversations.Failed:
		row.State = web.MessageFailed
	case conversations.Interrupted:
		row.State = web.MessageInterrupted
	case conversations.Completed:
	}
	if m.Delivery == conversations.CutOff {
		row.State = web.MessageCutOff
	}
	return row
}

// sendText submits what was typed without script. What is refused stays in the form.
func (p conversationPages) sendText(r *http.Request) (response, error) {
	id, typed := r.PathValue("id"), formText(r, "text")
	text := typed
	if _, asked := conversations.SearchWords(typed); r.PostForm.Get("search") != "" && !asked {
		text = conversations.SearchText(typed)
	}
	err := error(workbench.InvalidRequest)
	if strings.TrimSpace(typed) != "" && jsonform.UnitCount(text) <= nova.MaxInputUnits {
		err = p.Texts.SubmitText(r.Context(), id, text)
	}
	if isRefusal(err) && !errors.Is(err, workbench.ConversationNotFound) {
		return correct(web.ConversationsPlace, func(r *http.Request, l web.Layout) (response, error) {
			return p.viewWith(r, l, typed, refusalText(l.T, err))
		}), nil
	}
	return redirect(web.ConversationPath(id) + "#end"), asUnknown(err)
}

func (p conversationPages) newChat(r *http.Request) (response, error) {
	id, err := p.Conversations.CreateChat(r.Context(), conversations.NewTitle(r.PostForm.Get("title")))
	return redirect(web.ConversationPath(id)), err
}

func (p conversationPages) setRecording(r *http.Request) (response, error) {
	on, done := r.PostForm.Get("on") == "true", "not-recording"
	if on {
		done = "recording"
	}
	place := "conversations"
	if strings.HasSuffix(r.URL.Path, "/privacy/remember") {
		place = "privacy"
	}
	return redirect(place + "?done=" + done), p.Topics.SetRecording(r.Context(), on)
}

// confirm asks before a conversation is cleared or deleted. The permanent ones
// cannot be deleted.
func (p conversationPages) confirm(r *http.Request, l web.Layout) (response, error) {
	c, _, err := p.Conversations.Conversation(r.Context(), r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	path, name := web.ConversationPath(c.ID), l.Heading(conversationRow(c))
	v := web.Confirm{Title: fmt.Sprintf(l.T.ClearTitle, name), Lead: l.T.ClearLead, Button: l.T.ClearButton, Action: path + "/clear", Back: web.Place(path)}
	if r.PathValue("verb") == "delete" {
		if c.Permanent() {
			return response{}, errNotFound
		}
		v.Title, v.Lead, v.Button, v.Action = fmt.Sprintf(l.T.DeleteTitle, name), l.T.DeleteLead, l.T.DeleteButton, path+"/delete"
		if c.SubjectKey != "" {
			v.Option = web.Option{Name: "page", Label: l.T.Privacy.TopicPage}
		}
	}
	return show(web.ConfirmPage(l, v))
}

// remove clears or deletes a conversation.
func (p conversationPages) remove(r *http.Request) (response, error) {
	ctx, id := r.Context(), r.PathValue("id")
	if r.PathValue("verb") == "delete" {
		c, about, err := p.Conversations.Conversation(ctx, id)
		if err == nil {
			err = p.Conversations.Delete(ctx, id)
		}
		if address := cmp.Or(about.URL, c.SubjectKey); err == nil && address != "" && r.PostForm.Get("page") == "true" {
			_, err = p.Privacy.Remembered.ForgetPage(ctx, address, false)
		}
		return redirect("conversations?done=deleted"), asUnknown(err)
	}
	return redirect(web.ConversationPath(id) + "?done=cleared"), asUnknown(p.Conversations.Clear(r.Context(), id))
}

func (p conversationPages) confirmDeleteTopics(_ *http.Request, l web.Layout) (response, error) {
	return show(web.ConfirmPage(l, web.Confirm{
		Title: l.T.DropTopicsTitle, Lead: l.T.DropTopicsLead, Button: l.T.DropTopicsButton,
		Action: "topics/delete", Back: web.ConversationsPlace, Option: web.Option{Name: "pages", Label: l.T.Privacy.TopicPages},
	}))
}

func (p conversationPages) deleteTopics(r *http.Request) (response, error) {
	if r.PostForm.Get("pages") == "true" {
		_, err := p.Privacy.Remembered.ForgetAll(r.Context(), true)
		return redirect("conversations?done=topics-pages-deleted"), err
	}
	_, err := p.Conversations.DeleteTopics(r.Context())
	return redirect("conversations?done=topics-deleted"), err
}

// asUnknown maps the two errors for a missing conversation to one.
func asUnknown(err error) error {
	if errors.Is(err, workbench.ConversationNotFound) {
		return ports.ErrConversationUnknown
	}
	return err
}

// parseInt reads a number in an address; 0 for anything else.
func parseInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// formText gives what was typed with the line breaks that everybody else uses.
func formText(r *http.Request, field string) string {
	return strings.ReplaceAll(r.PostForm.Get(field), "\r\n", "\n")
}

// excerptRunes is how much of a message is shown on each side of what was found.
const excerptRunes = 90

// excerpt cuts a message to the text around the first word of asked that it holds,
// each part on one line. Where none is found as it was typed, match is "" and after
// is how the message begins.
func excerpt(message, asked string) (before, match, after string) {
	at, end := 0, 0
	for word := range strings.FieldsFuncSeq(asked, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if at, end = indexFold(message, word); end > 0 {
			break
		}
	}
	from, to := at, end
	for range excerptRunes {
		_, size := utf8.DecodeLastRuneInString(message[:from])
		from -= size
	}
	for range 2 * excerptRunes {
		_, size := utf8.DecodeRuneInString(message[to:])
		to += size
	}
	before, match, after = singleLine(message[from:at]), singleLine(message[at:end]), singleLine(message[end:to])
	if from > 0 {
		before = "…" + before
	}
	if to < len(message) {
		after += "…"
	}
	return before, match, after
}

// indexFold finds word in s, whatever the case of its letters. end is 0 when it is
// not there.
func indexFold(s, word string) (at, end int) {
	for at = range s {
		rest := s[at:]
		end = 0
		for range utf8.RuneCountInString(word) {
			_, size := utf8.DecodeRuneInString(rest[end:])
			end += size
		}
		if strings.EqualFold(rest[:end], word) {
			return at, at + end
		}
	}
	return 0, 0
}

// singleLine makes a blank of every kind of space, and leaves those at the ends.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
}
