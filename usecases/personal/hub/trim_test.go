package hub_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/life"
	"plexus/usecases/personal/tasks"
)

func said(seq int, text string) conversations.Message {
	return conversations.Message{
		Seq: int64(seq), ID: fmt.Sprint("m", seq), ConversationID: conversations.MainID, Role: conversations.User, Text: text, CreatedAt: moment,
	}
}

func decoded(t *testing.T, frame []byte) workbench.MobileSnapshot {
	t.Helper()
	s, err := workbench.DecodeSnapshot(frame)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFramesAreFullToTheLastByte(t *testing.T) {
	p := emptyHost()
	p.Messages = newestFirst(said(1, "old"), said(2, ""))
	bare, _ := mobileFrame(t, p)
	room := workbench.MaxMobileFrame - len(bare)

	p.Messages = newestFirst(said(1, "old"), said(2, strings.Repeat("字", room/3)+strings.Repeat("x", room%3)))
	frame, cut := mobileFrame(t, p)
	if len(frame) != workbench.MaxMobileFrame || cut != (Truncation{}) {
		t.Errorf("%d bytes and %+v, want all of %d", len(frame), cut, workbench.MaxMobileFrame)
	}

	p.Messages = newestFirst(said(1, "olds"), said(2, strings.Repeat("字", room/3)+strings.Repeat("x", room%3)))
	frame, cut = mobileFrame(t, p)
	if s := decoded(t, frame); len(s.Conversations.Messages) != 1 || s.Conversations.Messages[0].ID != "m2" || !cut.Messages {
		t.Errorf("one byte too many: %d messages and %+v, want the newest", len(s.Conversations.Messages), cut)
	}
}

func TestAtMostTheNewest512MessagesAreShown(t *testing.T) {
	p := emptyHost()
	all := make([]conversations.Message, 600)
	for i := range all {
		all[i] = said(i, "x")
	}
	p.Messages = newestFirst(all...)
	frame, cut := mobileFrame(t, p)
	for name, frame := range map[string][]byte{"mobile": frame, "desktop": desktopFrame(t, p)} {
		shown := decoded(t, frame).Conversations.Messages
		if len(shown) != 512 || shown[0].ID != "m88" || shown[511].ID != "m599" {
			t.Errorf("%s: %d messages, want m88 to m599", name, len(shown))
		}
	}
	if cut != (Truncation{}) {
		t.Errorf("%+v is cut", cut)
	}
}

// Decision K13: messages go first, then the oldest of the feed, then the oldest
// tasks, and a part of one list never comes with all of a lesser one.
func TestFeedThenTasksAreCutOldestFirst(t *testing.T) {
	p := emptyHost()
	p.Messages = newestFirst(said(1, strings.Repeat("m", 100_000)))
	for i := range 10 {
		item := fullFeedItem(fmt.Sprint("f", i))
		item.Prepared.Text = strings.Repeat("f", 100_000)
		p.Feed = append(p.Feed, item)
	}
	task := fullTask("t0")
	task.Goal = strings.Repeat("t", 50_000)
	p.Tasks = []tasks.Task{task, fullTask("t1")}
	frame, cut := mobileFrame(t, p)
	s := decoded(t, frame)
	if want := (Truncation{Messages: true, Feed: 2}); cut != want || len(s.Tasks) != 2 || len(s.Feed) != 8 || s.Feed[0].ID != "f0" {
		t.Errorf("%d tasks, %d of the feed, %+v; want %+v", len(s.Tasks), len(s.Feed), cut, want)
	}

	p.Tasks[0].Goal = strings.Repeat("t", 1_000_000)
	frame, cut = mobileFrame(t, p)
	s = decoded(t, frame)
	if want := (Truncation{Feed: 10, Tasks: 1}); cut != want || len(s.Tasks) != 1 || s.Tasks[0].ID != "t1" || len(s.Feed) != 0 {
		t.Errorf("%d tasks, %d of the feed, %+v; want %+v", len(s.Tasks), len(s.Feed), cut, want)
	}
}

func TestListsThatAreTooLongMeanReload(t *testing.T) {
	for name, c := range map[string]struct {
		items int
		note  string
	}{
		"long as they are":           {300, strings.Repeat("x", 4_000)},
		"long once they are encoded": {160, strings.Repeat("\x01", 1_000)},
	} {
		t.Run(name, func(t *testing.T) {
			p := emptyHost()
			for i := range c.items {
				p.Items = append(p.Items, life.Item{ID: fmt.Sprint(i), Kind: workbench.Todo, Version: 1, Title: "x", Note: c.note, Status: "open"})
			}
			if frame, cut := mobileFrame(t, p); frame != nil || cut != (Truncation{Reload: true}) {
				t.Errorf("%d bytes and %+v, want none and a reload", len(frame), cut)
			}
			if s := decoded(t, desktopFrame(t, p)); len(s.Life.Todos) != c.items {
				t.Errorf("the owner's page has %d of %d", len(s.Life.Todos), c.items)
			}
		})
	}
}

// The owner's page may have 8 MiB: longer are only the owner's own lists, and
// then it is told (nova-personal §1.4).
func TestDesktopFramesAreCutTo8MiB(t *testing.T) {
	p := emptyHost()
	all := make([]conversations.Message, 512)
	for i := range all {
		all[i] = said(i, strings.Repeat("字", conversations.MaxMessage))
	}
	p.Messages = newestFirst(all...)
	frame := desktopFrame(t, p)
	if shown := decoded(t, frame).Conversations.Messages; len(frame) > nova.MaxDesktopText || len(shown) < 170 || shown[len(shown)-1].ID != "m511" {
		t.Errorf("%d bytes with %d messages", len(frame), len(shown))
	}
	for range 1_000 {
		p.Items = append(p.Items, life.Item{ID: "i", Kind: workbench.Todo, Note: strings.Repeat("字", 4_000)})
	}
	text, err := nova.AppendDesktop(nil, nova.PersonalState{Frame: desktopFrame(t, p)})
	if want := `{"type":"personal.error","error":"personal_frame_too_large"}`; err != nil || string(text) != want {
		t.Errorf("12 MB of notes become %.120s, %v", text, err)
	}
}

func TestWhatCannotBeReadOrWrittenIsAnError(t *testing.T) {
	p, broken := emptyHost(), errors.New("disk gone")
	p.Messages = func(func(conversations.Message) bool) error { return broken }
	if _, _, err := MobileFrame(p); !errors.Is(err, broken) {
		t.Errorf("a store that fails gives %v", err)
	}
	if _, err := DesktopFrame(p); !errors.Is(err, broken) {
		t.Errorf("a store that fails gives %v", err)
	}
	p = fullHost()
	p.Feed[0].Priority = math.NaN()
	if _, _, err := MobileFrame(p); err == nil {
		t.Error("a priority that is no number is written")
	}
}

// TestAnySnapshotKeepsTheRules holds random hosts against the rules of K13 and §9.3.
func TestAnySnapshotKeepsTheRules(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p, all := randomHost(rand.New(rand.NewPCG(seed, 0)))
			frame, cut := mobileFrame(t, p)
			if cut.Reload {
				if frame != nil {
					t.Error("a reload has a frame")
				}
				return
			}
			if len(frame) > workbench.MaxMobileFrame {
				t.Fatalf("%d bytes", len(frame))
			}
			checkMembers(t, frame)
			s := decoded(t, frame)
			checkShown(t, p, all, s, cut)
			if cut.Messages {
				next := all[len(all)-len(s.Conversations.Messages)-1]
				checkNoRoom(t, next, len(frame))
			}
		})
	}
}

// checkShown: of every list the newest, in order.
func checkShown(t *testing.T, p Parts, all []conversations.Message, s workbench.MobileSnapshot, cut Truncation) {
	t.Helper()
	shown := s.Conversations.Messages
	if whole := len(shown) == min(len(all), workbench.MaxShownMessages); len(shown) > workbench.MaxShownMessages || whole == cut.Messages {
		t.Errorf("%d of %d messages, %+v", len(shown), len(all), cut)
	}
	for i, m := range shown {
		if want := all[len(all)-len(shown)+i]; m.ID != want.ID || utf8.ValidString(want.Text) && m.Text != want.Text {
			t.Fatalf("message %d is %s, want %s", i, m.ID, want.ID)
		}
	}
	if len(s.Feed)+cut.Feed != len(p.Feed) || len(s.Tasks)+cut.Tasks != len(p.Tasks) || cut.Tasks > 0 && len(s.Feed) > 0 {
		t.Errorf("feed %d of %d, tasks %d of %d, %+v", len(s.Feed), len(p.Feed), len(s.Tasks), len(p.Tasks), cut)
	}
	for i, f := range s.Feed {
		if f.ID != p.Feed[i].ID {
			t.Errorf("feed item %d is %s", i, f.ID)
		}
	}
	for i, task := range s.Tasks {
		if task.ID != p.Tasks[cut.Tasks+i].ID {
			t.Errorf("task %d is %s", i, task.ID)
		}
	}
	if n := len(s.Life.Todos) + len(s.Life.Ideas) + len(s.Life.Goals); n != len(p.Items) {
		t.Errorf("%d of %d items", n, len(p.Items))
	}
}

// checkNoRoom: the newest message that is not shown would be too much.
func checkNoRoom(t *testing.T, next conversations.Message, full int) {
	t.Helper()
	p := emptyHost()
	none, _ := mobileFrame(t, p)
	p.Messages = newestFirst(next)
	if one, cut := mobileFrame(t, p); !cut.Messages && full+len(one)-len(none) < workbench.MaxMobileFrame {
		t.Errorf("%s would have fitted into %d bytes", next.ID, full)
	}
}

func randomHost(r *rand.Rand) (Parts, []conversations.Message) {
	p := fullHost()
	p.SelectedID = conversations.MainID
	if r.IntN(3) == 0 {
		p.Mode, p.TimeZone, p.VoiceID = "", "", ""
	}
	long := func() int { return []int{1, 100, 4_000, 20_000}[r.IntN(4)] }
	all, n := make([]conversations.Message, r.IntN(700)), long()
	for i := range all {
		all[i] = said(i, randomText(r, n))
	}
	p.Messages = newestFirst(all...)
	p.Feed, p.Tasks, p.Items = p.Feed[:r.IntN(3)], p.Tasks[:r.IntN(3)], p.Items[:r.IntN(len(p.Items))]
	n = long()
	for i := range r.IntN(100) {
		item := fullFeedItem(fmt.Sprint("f", i))
		item.Prepared.Text = randomText(r, n)
		p.Feed = append(p.Feed, item)
	}
	n = long()
	for i := range r.IntN(100) {
		task := fullTask(fmt.Sprint("t", i))
		task.Goal = randomText(r, n)
		p.Tasks = append(p.Tasks, task)
	}
	kinds := []workbench.ItemKind{workbench.Todo, workbench.Idea, workbench.Goal}
	n = long()
	for i := range r.IntN(100) {
		p.Items = append(p.Items, life.Item{ID: fmt.Sprint("i", i), Kind: kinds[r.IntN(3)], Title: "x", Note: randomText(r, n), GoalID: "goal1"})
	}
	return p, all
}

func randomText(r *rand.Rand, long int) string {
	pieces := []string{"a", "字", "🎧", "<", "\"", "\n", "\x01", "\u2028", "\xff"}
	piece := pieces[r.IntN(len(pieces))]
	return strings.Repeat(piece, r.IntN(long)/len(piece)) + pieces[r.IntN(len(pieces))]
}
