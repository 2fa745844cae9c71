package crash

import (
	"encoding/json"
	"strings"
	"testing"

	"plexus/adapters/sqlite"
	"plexus/domain/conversations"
	"plexus/usecases/personal/life"
)

// storedThings is what the database holds of conversations and lists, read past
// the indexes.
type storedThings struct {
	revision uint64
	selected string
	threads  map[string]conversations.Conversation
	messages []conversations.Message // in their order
	items    map[string]life.Item
}

func storedTalks(t *testing.T, path string) storedThings {
	t.Helper()
	if err := sqlite.Check(t.Context(), path); err != nil {
		t.Errorf("the database after a crash: %v", err)
	}
	db := openDatabase(t, path, "ro")
	defer closeDatabase(t, db)
	s := storedThings{threads: map[string]conversations.Conversation{}, items: map[string]life.Item{}, selected: conversations.MainID}
	each := func(query string, row func(scan func(...any) error) error) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close() // read to its end below
		for rows.Next() {
			if err := row(rows.Scan); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	each("SELECT id, kind, title, generation, read_through FROM conversations NOT INDEXED", func(scan func(...any) error) error {
		var c conversations.Conversation
		err := scan(&c.ID, &c.Kind, &c.Title, &c.Generation, &c.ReadThrough)
		s.threads[c.ID] = c
		return err
	})
	each(`SELECT m.seq, c.id, m.id, m.role, m.reply_to, m.request_id, m.status, m.delivery, m.text
		FROM messages AS m NOT INDEXED JOIN conversations AS c ON c.number = m.conversation ORDER BY m.seq`, func(scan func(...any) error) error {
		var m conversations.Message
		err := scan(&m.Seq, &m.ConversationID, &m.ID, &m.Role, &m.ReplyTo, &m.RequestID, &m.Status, &m.Delivery, &m.Text)
		s.messages = append(s.messages, m)
		return err
	})
	each("SELECT area, id, body FROM records NOT INDEXED WHERE area IN ('todo', 'idea', 'host')", func(scan func(...any) error) error {
		var area, id string
		var body []byte
		if err := scan(&area, &id, &body); err != nil {
			return err
		}
		switch area + " " + id {
		case "host revision":
			return json.Unmarshal(body, &s.revision)
		case "host selected":
			return json.Unmarshal(body, &s.selected)
		}
		var i life.Item
		err := json.Unmarshal(body, &i)
		s.items[id] = i
		return err
	})
	return s
}

// compare holds what is stored against the record. In a fresh life nothing can
// be pending; otherwise nothing is under way but turns.
func (o *talks) compare(t *testing.T, s storedThings, fresh bool) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.revision < o.revision {
		o.loss(t, "the revision is %d and was %d", s.revision, o.revision)
	}
	o.revision = max(o.revision, s.revision)
	o.compareThreads(t, s)
	o.compareItems(t, s)
	o.compareShown(t, s)
	o.compareMessages(t, s, fresh)
}

func (o *talks) compareThreads(t *testing.T, s storedThings) {
	t.Helper()
	for id, th := range o.threads {
		c, there := s.threads[id]
		if !there || c.Generation < th.cleared || c.Generation > th.asked {
			o.loss(t, "conversation %s: there %v, generation %d; %d clearings were acknowledged and %d sent", id, there, c.Generation, th.cleared, th.asked)
		}
		th.cleared = max(th.cleared, c.Generation)
	}
	made := map[string]int{}
	for id, c := range s.threads {
		if c.Kind == conversations.Chat && id != conversations.MainID {
			made[c.Title]++
		}
	}
	for title, acknowledged := range o.titles {
		if n := made[title]; n > 1 || acknowledged && n == 0 {
			o.loss(t, "chat %q is there %d times; acknowledged %v", title, n, acknowledged)
		}
		delete(made, title)
	}
	if len(made) > 0 {
		t.Errorf("chats that nobody made: %v", made)
	}
	if stands := func(wanted string) bool { return wanted == s.selected || wanted == titled(s.threads[s.selected].Title) }; !stands(o.selected) && !stands(o.wanted) {
		o.loss(t, "%s is selected; %s was acknowledged and %s sent", s.selected, o.selected, o.wanted)
	}
	seq := map[string]int64{}
	for _, m := range s.messages {
		seq[m.ConversationID+" "+m.ID] = m.Seq
	}
	for id, th := range o.threads {
		if c := s.threads[id]; th.read != "" && c.Generation == th.readGeneration && c.ReadThrough < seq[id+" "+th.read] {
			o.loss(t, "conversation %s is read up to %d; %d was acknowledged", id, c.ReadThrough, seq[id+" "+th.read])
		}
	}
}

func (o *talks) compareItems(t *testing.T, s storedThings) {
	t.Helper()
	known := map[string]bool{}
	for _, i := range o.items {
		known[i.id()] = true
		found, there := s.items[i.id()]
		asAcknowledged := there == (i.version > 0) && found.Version == i.version && found.Title == i.title
		if !asAcknowledged && (found.Version != i.wanted || found.Title != i.wantedTitle) {
			o.loss(t, "%s is of version %d; %d was acknowledged and %d sent", i.wantedTitle, found.Version, i.version, i.wanted)
		}
	}
	for id, i := range s.items {
		if !known[id] {
			o.loss(t, "an item that nobody made, or made twice: %s %q", i.Kind, i.Title)
		}
	}
}

// compareShown: what a snapshot showed in this generation is there, as it was.
func (o *talks) compareShown(t *testing.T, s storedThings) {
	t.Helper()
	there := map[string]conversations.Message{}
	for _, m := range s.messages {
		there[m.ID] = m
	}
	for id, was := range o.shown {
		if s.threads[was.conversation].Generation != was.generation {
			delete(o.shown, id)
			continue
		}
		m, ok := there[id]
		if !ok || m.Text != was.text || m.ConversationID != was.conversation {
			o.loss(t, "message %s of %s was shown; there %v", id, was.conversation, ok)
		} else if was.status != conversations.Pending && m.Status != was.status {
			o.loss(t, "message %s was %q and is %q", id, was.status, m.Status)
		}
	}
}

func (o *talks) compareMessages(t *testing.T, s storedThings, fresh bool) {
	t.Helper()
	answers := map[string][]conversations.Message{} // by what they answer
	byRequest := map[string][]conversations.Message{}
	for _, m := range s.messages {
		if m.Role == conversations.Assistant {
			key := m.ConversationID + " " + m.ReplyTo
			answers[key] = append(answers[key], m)
		} else if m.RequestID != "" {
			byRequest[m.RequestID] = append(byRequest[m.RequestID], m)
		}
	}
	for _, m := range s.messages {
		if m.Role != conversations.User {
			continue
		}
		key := m.ConversationID + " " + m.ID
		o.comparePair(t, m, answers[key], fresh)
		delete(answers, key)
	}
	for key := range answers {
		o.loss(t, "answers to what is not there: %s", key)
	}
	for _, text := range o.texts {
		o.compareText(t, text, byRequest[text.id], s.threads[text.conversation].Generation)
		delete(byRequest, text.id)
	}
	for id := range byRequest {
		t.Errorf("a text that nobody sent: %s", id)
	}
}

// comparePair: a message that is completed has its one answer, one that was
// interrupted none. A question of the browser may have been cut off.
func (o *talks) comparePair(t *testing.T, m conversations.Message, answers []conversations.Message, fresh bool) {
	t.Helper()
	whole := len(answers) == 1 && answers[0].Delivery == conversations.Delivered
	part := len(answers) == 0 || len(answers) == 1 && answers[0].Delivery == conversations.CutOff
	good := false
	switch m.Status {
	case conversations.Completed:
		good = whole && strings.Contains(answers[0].Text, marked.FindString(m.Text))
	case conversations.Failed:
		good = part
	case conversations.Interrupted:
		good = len(answers) == 0 || m.RequestID == "" && part
	case conversations.Pending:
		good = !fresh && len(answers) == 0
	}
	if !good {
		o.loss(t, "message %s is %q with %d answers; in a fresh life: %v", m.ID, m.Status, len(answers), fresh)
	}
}

// compareText holds one text against what is stored under its request ID.
func (o *talks) compareText(t *testing.T, text *said, found []conversations.Message, generation uint64) {
	t.Helper()
	calls := o.model.calls(text.marker)
	if len(found) > 1 || calls > 1 {
		o.loss(t, "text %s is there %d times, and the model was asked %d times", text.id, len(found), calls)
		return
	}
	if len(found) == 1 {
		m := found[0]
		switch {
		case text.refused || text.gone:
			o.loss(t, "text %s was refused (%v) or cleared (%v) and is there", text.id, text.refused, text.gone)
		case m.Text != text.text || m.ConversationID != text.conversation:
			o.loss(t, "text %s is another one", text.id)
		case text.accepted && generation > text.to:
			o.loss(t, "text %s of generation %d…%d is there in generation %d", text.id, text.from, text.to, generation)
		case text.status != "" && (m.Status != text.status || calls != text.calls):
			o.loss(t, "text %s was %q and is %q; the model was asked %d times, and then %d", text.id, text.status, m.Status, text.calls, calls)
		}
		text.from, text.to, text.accepted = generation, generation, true
		if m.Status != conversations.Pending {
			text.status, text.calls = m.Status, calls
		}
		return
	}
	if (text.accepted || calls > 0) && !text.gone && generation == text.from {
		o.loss(t, "text %s of %s was accepted (%v), the model was asked %d times", text.id, text.conversation, text.accepted, calls)
	}
	text.gone = true
}
