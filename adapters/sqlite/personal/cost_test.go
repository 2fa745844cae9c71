package personal_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plexus/adapters/sqlite/personal"
	"plexus/domain/conversations"
	"plexus/ports"
)

// plan gives SQLite's plan of a statement, a line for each step.
func (d *database) plan(t *testing.T, statement string) string {
	t.Helper()
	args := make([]any, 12) // no statement has more parameters
	rows, err := d.other.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// harmless are scans of something small or of what an index has picked out.
var harmless = []string{"SCAN personal_totals", "SCAN conversations USING INDEX conversations_updated", "SCAN CONSTANT ROW", "SCAN w VIRTUAL TABLE INDEX"}

func TestStatements_ReadNoMoreThanTheyGive(t *testing.T) {
	d := open(t)
	d.put(t, "one", "two")
	for _, filled := range []bool{false, true} {
		if filled {
			d.fill(t, "one", 2_000)
			d.execute(t, "ANALYZE")
		}
		for statement := range personal.Queries() {
			plan := d.plan(t, statement)
			for step := range strings.SplitSeq(plan, "\n") {
				known := slices.ContainsFunc(harmless, func(h string) bool { return strings.HasPrefix(step, h) })
				everybodys := strings.HasPrefix(step, "SEARCH messages USING INTEGER PRIMARY KEY") // a range over all conversations
				if strings.Contains(step, "SCAN") && !known || strings.Contains(step, "TEMP B-TREE") || everybodys {
					t.Errorf("%s\nhas the plan\n%s", statement, plan)
				}
			}
		}
		for statement := range personal.Writes() {
			plan := d.plan(t, statement)
			if strings.Contains(plan, "SCAN messages") && !strings.Contains(plan, "SCAN messages USING INDEX messages_pending") ||
				strings.Contains(plan, "SCAN records") || strings.Contains(plan, "SCAN conversations") {
				t.Errorf("%s\nhas the plan\n%s", statement, plan)
			}
		}
	}
}

// The walks read from the end of an index: of what is there they meet only what
// they hand out.
func TestReads_CostTheSameAmongManyMessages(t *testing.T) {
	few, many := 1_000, 100_000
	if racing {
		many = 3_000 // nothing is measured then
	}
	allocations := map[string][]float64{}
	visited := map[string][]int{}
	for _, n := range []int{few, many} {
		d := open(t)
		d.put(t, "busy", "other")
		d.fill(t, "other", n)
		d.fill(t, "busy", n)
		last := int64(2 * n)
		for name, look := range map[string]func(v ports.PersonalView) (int, error){
			"newest messages": func(v ports.PersonalView) (int, error) { return walk(v, "busy", 0) },
			"older messages":  func(v ports.PersonalView) (int, error) { return walk(v, "busy", last-100) },
			"conversations": func(v ports.PersonalView) (int, error) {
				list, err := v.Conversations(ports.ConversationQuery{Limit: conversations.MaxChats})
				return len(list), err
			},
			"unread": func(v ports.PersonalView) (int, error) { return v.UnreadAfter("busy", last-20) },
			"request": func(v ports.PersonalView) (int, error) {
				_, err := v.MessageByRequest("busy", "r1000500")
				return 1, err
			},
		} {
			var seen int
			run := func() {
				err := d.View(t.Context(), func(v ports.PersonalView) (err error) {
					seen, err = look(v)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			run() // prepares on the connection
			allocations[name] = append(allocations[name], leastAllocs(run))
			visited[name] = append(visited[name], seen)
		}
		if _, err := d.SearchMessages(t.Context(), "message", 10); err != nil {
			t.Error(err)
		}
	}
	for name, seen := range visited {
		if seen[0] != seen[1] || seen[0] == 0 {
			t.Errorf("%s: %d rows among few messages, %d among many", name, seen[0], seen[1])
		}
		if a := allocations[name]; !racing && (a[1] > a[0]+5 || a[0] > float64(40*seen[0]+200)) {
			t.Errorf("%s: %v allocations among few messages, %v among many, for %d rows", name, a[0], a[1], seen[0])
		}
	}
}

// leastAllocs gives how often run allocates: the least of several counts, since
// what else the process does meanwhile, goroutines that end late and the
// collector among it, is counted too.
func leastAllocs(run func()) float64 {
	least := math.Inf(1)
	for range 5 {
		least = min(least, testing.AllocsPerRun(5, run))
	}
	return least
}

// walk visits as many messages as a snapshot has at most.
func walk(v ports.PersonalView, conversation string, before int64) (n int, err error) {
	err = v.MessagesBefore(conversation, before, 512, func(conversations.Message) bool {
		n++
		return true
	})
	return n, err
}
