package crash

import (
	"fmt"
	"strings"
	"testing"

	"plexus/domain/conversations"
)

// question is one that the browser has asked; answer is what it saw of it, whole once
// the FINAL has come.
type question struct {
	page   pageKey
	answer string
	whole  bool
}

// words make the question one of its own. The marker comes first.
func (k pageKey) words(number int) string {
	return fmt.Sprintf("When did %s open? That is query%d.", k.marker(), number)
}

func (o *oracle) asks(k pageKey) (number int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.questions = append(o.questions, &question{page: k})
	return len(o.questions) - 1
}

// shownWhole comes with the FINAL.
func (o *oracle) shownWhole(number int, answer string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.questions[number]
	q.answer, q.whole = answer, true
	o.answers++
}

// pair is a question of a topic with its answer, as they are stored.
type pair struct {
	status   conversations.Status
	delivery conversations.Delivery
	answer   string
}

// checkTopics: a question whose FINAL was seen is in the topic of its page, once and
// with its answer, unless the topic was cleared. Any other is there at most once.
func (o *oracle) checkTopics(t *testing.T, path string, cleared map[string]bool) {
	t.Helper()
	db := openDatabase(t, path, "ro")
	defer closeDatabase(t, db)
	rows, err := db.QueryContext(t.Context(), `SELECT c.subject_key, m.text, m.status, coalesce(a.delivery, ''), coalesce(a.text, '')
		FROM conversations AS c JOIN messages AS m ON m.conversation = c.number AND m.role = 'user' AND m.request_id = ''
		LEFT JOIN messages AS a ON a.conversation = c.number AND a.reply_to = m.id WHERE c.kind = 'topic'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // read to its end below
	found := map[string][]pair{}
	for rows.Next() {
		var subject, words string
		var p pair
		if err := rows.Scan(&subject, &words, &p.status, &p.delivery, &p.answer); err != nil {
			t.Fatal(err)
		}
		found[subject+" "+words] = append(found[subject+" "+words], p)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for number, q := range o.questions {
		there := found[q.page.url()+" "+q.page.words(number)]
		switch {
		case cleared[q.page.url()]:
		case len(there) > 1:
			o.loss(t, "question %d is there %d times", number, len(there))
		case q.whole && len(there) == 0:
			o.loss(t, "question %d was answered to its end and is not there", number)
		case q.whole && (there[0].status != conversations.Completed || there[0].delivery != conversations.Delivered ||
			!strings.HasPrefix(there[0].answer, strings.TrimSpace(q.answer))):
			o.loss(t, "question %d was answered to its end and is %+v", number, there[0])
		}
	}
}

// clearedTopics are the subjects of topics that the phone has cleared.
func clearedTopics(t *testing.T, path string) map[string]bool {
	t.Helper()
	db := openDatabase(t, path, "ro")
	defer closeDatabase(t, db)
	rows, err := db.QueryContext(t.Context(), "SELECT subject_key FROM conversations WHERE kind = 'topic' AND generation > 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // read to its end below
	cleared := map[string]bool{}
	for rows.Next() {
		var subject string
		if err := rows.Scan(&subject); err != nil {
			t.Fatal(err)
		}
		cleared[subject] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return cleared
}
