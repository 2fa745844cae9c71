package stories

import (
	"fmt"
	"strings"
	"time"

	"plexus/web"
)

// pinned are the two conversations that are always there.
func (b *book) pinned() []web.Conversation {
	return []web.Conversation{
		{ID: "chat:main", Kind: web.MainChat, Title: "Main chat", Updated: b.before(3 * time.Minute)},
		{ID: "chat:proactive", Kind: web.Reminders, Title: "Reminders", Unread: 2, Updated: b.before(5 * hour)},
	}
}

const bridgeAddress = "https://en.example.org/wiki/Sydney_Harbour_Bridge"

func (b *book) bridge() web.Conversation {
	return web.Conversation{ID: "topic:7", Kind: web.Topic, Title: "Sydney Harbour Bridge", Address: bridgeAddress, Updated: b.before(20 * time.Minute)}
}

func (b *book) conversations() {
	l := b.layout(web.ConversationsPlace)
	v := web.Conversations{
		Pinned: b.pinned(), Size: 50, Total: 6, Topics: true, Input: web.AllInput, Recording: true,
		Rest: []web.Conversation{
			b.bridge(),
			{ID: "chat:2", Kind: web.Chat, Title: "Weekend in the mountains", Updated: b.before(26 * hour)},
			{ID: "topic:5", Kind: web.Topic, Title: "", Updated: b.before(3 * day)},
			{ID: "chat:1", Kind: web.Chat, Title: "Пироги и 饺子", Updated: b.before(40 * day)},
		},
	}
	b.add("conversations", web.ConversationsPage(l, v))
	few := web.Conversations{Pinned: b.pinned(), Size: 50, Total: 2, Input: web.NoInput, FixedBy: "conversations.record_browser in config.toml"}
	b.add("conversations-new", web.ConversationsPage(l, few))
	v.Input, v.Pinned, v.From, v.Total = web.TextInput, nil, 50, 5010
	v.Rest = append(v.Rest, web.Conversation{
		ID: "topic:9", Kind: web.Topic, Title: "<img src=x onerror=alert(1)> " + longName(), Address: "https://example.org/" + longName(), Updated: b.now,
	})
	b.add("conversations-many", web.ConversationsPage(l, v))
	b.add("conversations-found", web.ConversationsPage(l, web.Conversations{Asked: "bridge opened", Most: true, Found: []web.Found{
		{Conversation: b.bridge(), Role: web.Host, At: b.before(21 * time.Minute), Before: "…after four years of work the ", Match: "bridge", After: " opened on 19 March 1932, and in the first days…"},
		{Conversation: b.pinned()[0], Role: web.Owner, At: b.before(9 * day), Before: "Which ", Match: "bridge", After: " opened last?"},
	}}))
	b.add("conversations-nothing", web.ConversationsPage(l, web.Conversations{Asked: "<b>" + longName()}))
	b.add("topics-delete", web.ConfirmPage(l, web.Confirm{
		Title: l.T.DropTopicsTitle, Lead: l.T.DropTopicsLead, Button: l.T.DropTopicsButton, Action: "topics/delete", Back: web.ConversationsPlace,
		Option: web.Option{Name: "pages", Label: l.T.Privacy.TopicPages},
	}))
}

func (b *book) conversation() {
	l := b.layout(web.ConversationsPlace)
	v := web.ConversationView{Conversation: b.bridge(), Quoted: true, Input: web.AllInput, Search: true, Messages: []web.Message{
		{Seq: 1, Role: web.Owner, At: b.before(25 * time.Minute), Text: "When did the bridge open?"},
		{Seq: 2, Role: web.Host, At: b.before(25 * time.Minute), Text: "It opened on 19 March 1932 [page].\n\nTwo things led up to it:\n  1. the loan of 1922\n  2. four years of work on the arch"},
		{Seq: 3, Role: web.Owner, At: b.before(21 * time.Minute), Text: "And who paid?"},
		{Seq: 4, Role: web.Host, At: b.before(20 * time.Minute), Text: "Ratepayers of the north shore, who", State: web.MessageCutOff},
	}}
	b.add("talk", web.ConversationPage(l, v))
	v.Messages = []web.Message{
		{Seq: 101, Role: web.Owner, At: b.before(2 * day), Text: "السؤال الأول عن الجسر", State: web.MessageFailed},
		{Seq: 102, Role: web.Owner, At: b.before(day), Text: "<script>alert(1)</script> " + longName(), State: web.MessageInterrupted},
		{Seq: 103, Role: web.Host, At: b.before(hour), Text: strings.Repeat("A long answer in plain words that goes on for a while. ", 14)},
		{Seq: 104, Role: web.Owner, At: b.before(4 * time.Second), Text: "What else?", State: web.MessageWaiting},
	}
	v.Older = true
	v.Conversation = b.pinned()[0]
	v.Conversation.Title = longName()
	b.add("talk-troubled", web.ConversationPage(l, v))
	b.add("talk-empty", web.ConversationPage(l, web.ConversationView{Conversation: web.Conversation{ID: "chat:3", Kind: web.Chat}, Input: web.TextInput}))
	b.add("talk-reminders", web.ConversationPage(l, web.ConversationView{Conversation: b.pinned()[1], Input: web.AllInput}))
	b.add("talk-silent", web.ConversationPage(l, web.ConversationView{Conversation: b.pinned()[0], Input: web.NoInput}))
	past := web.ConversationView{Conversation: b.bridge(), Past: true, Input: web.AllInput, Messages: v.Messages[2:3]}
	b.add("talk-past", web.ConversationPage(l, past))
	b.add("talk-fault", web.ConversationPage(l, web.ConversationView{
		Conversation: b.pinned()[0], Input: web.AllInput, Draft: "Remind me of the\nbridge", Fault: l.T.Refusals["conversation_clearing"],
	}))
	b.add("talk-clear", web.ConfirmPage(l, web.Confirm{
		Title: fmt.Sprintf(l.T.ClearTitle, b.bridge().Title), Lead: l.T.ClearLead, Button: l.T.ClearButton,
		Action: "conversations/topic:7/clear", Back: "conversations/topic:7",
	}))
}

func (b *book) lists() {
	l := b.layout(web.ListsPlace)
	today := b.now.Format(time.DateOnly)
	b.add("todos", web.ListPage(l, web.Lists{List: web.Todos, Hidden: 31,
		Open: []web.Item{
			{ID: "t1", Version: 1, Title: "Pay the electricity bill", Status: "open", Due: b.before(2 * day).Format(time.DateOnly), Late: true},
			{ID: "t2", Version: 3, Title: "Ask about the arch", Note: "On the phone, with the page at hand.\nThe second span.", Status: "doing", Due: today, Goal: "Understand bridges"},
			{ID: "t3", Version: 1, Title: "Wait for the carpenter", Status: "waiting"},
		},
		Closed: []web.Item{
			{ID: "t4", Version: 2, Title: "Buy flour", Status: "done"},
			{ID: "t5", Version: 2, Title: "Call the old number", Status: "cancelled"},
		},
	}))
	b.add("todos-empty", web.ListPage(l, web.Lists{List: web.Todos}))
	b.add("todos-conflict", web.ListPage(l, web.Lists{List: web.Todos, Typed: "Pay the bill", Fault: l.T.Conflict,
		Open: []web.Item{{ID: "t6", Version: 1, Title: longName(), Note: longName(), Status: "open", Goal: longName()}},
	}))
	b.add("ideas", web.ListPage(l, web.Lists{List: web.Ideas,
		Open:   []web.Item{{ID: "i1", Version: 1, Title: "A shelf made of old doors", Note: "See the one in the café", Status: "active", Goal: "A home that works"}},
		Closed: []web.Item{{ID: "i2", Version: 2, Title: "Sell the bicycle", Status: "archived"}},
	}))
	b.add("ideas-empty", web.ListPage(l, web.Lists{List: web.Ideas}))
	b.add("goals", web.ListPage(l, web.Lists{List: web.Goals,
		Open: []web.Item{
			{ID: "g1", Version: 4, Title: "Understand bridges", Status: "active", Done: 3, Total: 7},
			{ID: "g2", Version: 1, Title: "A home that works", Status: "paused"},
		},
		Closed: []web.Item{{ID: "g3", Version: 9, Title: "Run ten kilometres", Status: "completed", Done: 5, Total: 5}},
	}))
	b.add("goals-empty", web.ListPage(l, web.Lists{List: web.Goals}))
	b.add("edit-todo", web.EditPage(l, web.Edit{List: web.Todos, Name: "Ask about the arch", Goal: "g1", Goals: []web.Goal{{ID: "g1", Title: "Understand bridges"}, {ID: "g2", Title: longName()}}, Item: web.Item{ID: "t2", Version: 3, Title: "Ask about the arch", Note: "On the phone.", Status: "doing", Due: today}}))
	b.add("edit-goal-conflict", web.EditPage(l, web.Edit{List: web.Goals, Name: "Understand bridges", Fault: l.T.Conflict,
		Item: web.Item{ID: "g1", Version: 5, Title: "Understand bridges", Criteria: "I can draw one that stands", Status: "active"},
	}))
	b.add("about", web.AboutPage(l, web.About{Version: 2, Text: "I live in Sydney and cook a lot.\nPlease answer briefly."}))
	b.add("about-conflict", web.AboutPage(l, web.About{Version: 3, Fault: l.T.Conflict, Text: "Changed on the phone."}))
}
