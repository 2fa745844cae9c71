package life_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/usecases/personal/life"
)

// moment is in no zone of the wire and finer than it, on purpose.
var moment = time.Date(2026, time.November, 30, 9, 30, 0, 123_456_789, time.FixedZone("", 2*60*60))

// memoryStore keeps lists in memory and counts what is written. A store in which a
// look-up or a write fails has broken set.
type memoryStore struct {
	items   []life.Item
	profile life.Profile
	writes  int
	broken  error
}

func (s *memoryStore) find(kind workbench.ItemKind, id string) int {
	for i, it := range s.items {
		if it.Kind == kind && it.ID == id {
			return i
		}
	}
	return -1
}

func (s *memoryStore) Item(kind workbench.ItemKind, id string) (life.Item, bool, error) {
	if i := s.find(kind, id); i >= 0 {
		return s.items[i], true, s.broken
	}
	return life.Item{}, false, s.broken
}

func (s *memoryStore) Items(kind workbench.ItemKind) (row []life.Item, err error) {
	for _, it := range s.items {
		if it.Kind == kind {
			row = append(row, it)
		}
	}
	return row, s.broken
}

func (s *memoryStore) PutItem(it life.Item) error {
	s.writes++
	if i := s.find(it.Kind, it.ID); i >= 0 {
		s.items[i] = it
	} else {
		s.items = append(s.items, it)
	}
	return s.broken
}

func (s *memoryStore) DropItem(kind workbench.ItemKind, id string) error {
	s.writes++
	if i := s.find(kind, id); i >= 0 {
		s.items = append(s.items[:i:i], s.items[i+1:]...)
	}
	return s.broken
}

func (s *memoryStore) Profile() (life.Profile, error) { return s.profile, s.broken }

func (s *memoryStore) PutProfile(p life.Profile) error {
	s.writes++
	s.profile = p
	return s.broken
}

// do carries out an operation that must succeed.
func (s *memoryStore) do(t *testing.T, request string, op life.Op) life.Outcome {
	t.Helper()
	done, err := life.Mutate(s, request, op, moment)
	if err != nil {
		t.Fatalf("%#v: %v", op, err)
	}
	return done
}

// refuse carries out an operation that must be refused without a trace.
func (s *memoryStore) refuse(t *testing.T, request string, op life.Op, want workbench.Refusal) {
	t.Helper()
	writes := s.writes
	done, err := life.Mutate(s, request, op, moment)
	if !errors.Is(err, want) || done != (life.Outcome{}) {
		t.Errorf("%#v gives %+v, %v, want %s", op, done, err, want)
	}
	if s.writes != writes {
		t.Errorf("%#v was refused and written", op)
	}
}

func (s *memoryStore) item(t *testing.T, kind workbench.ItemKind, id string) life.Item {
	t.Helper()
	it, ok, _ := s.Item(kind, id)
	if !ok {
		t.Fatalf("no %s %s", kind, id)
	}
	return it
}

func newTodo(title string) life.CreateItem {
	return life.CreateItem{Kind: workbench.Todo, Title: title}
}
func newIdea(title string) life.CreateItem {
	return life.CreateItem{Kind: workbench.Idea, Title: title}
}
func newGoal(title string) life.CreateItem {
	return life.CreateItem{Kind: workbench.Goal, Title: title}
}

func statusOf(kind workbench.ItemKind, it life.Outcome, status string) life.UpdateItem {
	return life.UpdateItem{Kind: kind, ID: it.ID, Expected: it.Version, Status: status}
}

func TestNewItems(t *testing.T) {
	s := &memoryStore{}
	goal := s.do(t, "r1", life.CreateItem{Kind: workbench.Goal, Title: "G", Criteria: "C"})
	todo := s.do(t, "r2", life.CreateItem{Kind: workbench.Todo, Title: "T", Note: "N", Due: "2026-01-02", GoalID: goal.ID})
	idea := s.do(t, "r3", life.CreateItem{Kind: workbench.Idea, Title: "I", GoalID: goal.ID})
	when := moment.UTC()
	want := []life.Item{
		{Kind: workbench.Goal, Title: "G", Status: "active", Criteria: "C"},
		{Kind: workbench.Todo, Title: "T", Status: "open", Note: "N", Due: "2026-01-02", GoalID: goal.ID},
		{Kind: workbench.Idea, Title: "I", Status: "active", GoalID: goal.ID},
	}
	for i, outcome := range []life.Outcome{goal, todo, idea} {
		want[i].ID, want[i].Version, want[i].CreatedAt, want[i].UpdatedAt = outcome.ID, 1, when, when
		if outcome.Version != 1 {
			t.Errorf("%+v", outcome)
		}
	}
	if !reflect.DeepEqual(s.items, want) {
		t.Errorf("%+v, want %+v", s.items, want)
	}
	// SHA-256 of "r1".
	if goal.ID != "82f3e9c695dc6b8d1b11818d5701919e286de8d47f7c3eb3100c485f79e57828" {
		t.Error("an id is not the SHA-256 of its request:", goal.ID)
	}
}

func TestARequestMakesOneItem(t *testing.T) {
	s := &memoryStore{}
	made := s.do(t, "r", newTodo("T"))
	if again := s.do(t, "r", newTodo("T")); again != made || len(s.items) != 1 {
		t.Errorf("%+v then %+v, %d items", made, again, len(s.items))
	}
	s.refuse(t, "r", newTodo("U"), workbench.RequestIDConflict)
	s.refuse(t, "r", newIdea("T"), workbench.RequestIDConflict)
	s.do(t, "r2", statusOf(workbench.Todo, made, "done"))
	s.refuse(t, "r", newTodo("T"), workbench.RequestIDConflict)
}

// There are no cards yet, so that card_not_found is the answer to every adoption
// and is given where commands are carried out. What is tested here is what keeps
// an adoption from making two goals: its request id is derived from the card.
func TestP80_AnAdoptionMakesOneGoal(t *testing.T) {
	s := &memoryStore{}
	const request = "context-adopt:0123456789abcdef0123456789abcdef"
	made := s.do(t, request, newGoal("As the card said"))
	if again := s.do(t, request, newGoal("As the card said")); again != made {
		t.Errorf("%+v, then %+v", made, again)
	}
	s.refuse(t, request, newGoal("As it says now"), workbench.RequestIDConflict)
	if goals, _ := s.Items(workbench.Goal); len(goals) != 1 {
		t.Errorf("%d goals", len(goals))
	}
}

func TestMembersBelongToTheirKind(t *testing.T) {
	s := &memoryStore{}
	goal, idea, todo := s.do(t, "g", newGoal("G")), s.do(t, "i", newIdea("I")), s.do(t, "t", newTodo("T"))
	some := nova.Some[string]
	for want, ops := range map[workbench.Refusal][]life.Op{
		workbench.DueOnlyForTodo: {
			life.CreateItem{Kind: workbench.Idea, Title: "I", Due: "2026-01-02"},
			life.CreateItem{Kind: workbench.Goal, Title: "G", Due: "2026-01-02"},
			life.UpdateItem{Kind: workbench.Idea, ID: idea.ID, Expected: 1, Due: some("2026-01-02")},
		},
		workbench.CriteriaOnlyForGoal: {
			life.CreateItem{Kind: workbench.Todo, Title: "T", Criteria: "C"},
			life.UpdateItem{Kind: workbench.Todo, ID: todo.ID, Expected: 1, Criteria: some("C")},
		},
		workbench.GoalCannotParent: {
			life.CreateItem{Kind: workbench.Goal, Title: "G", GoalID: goal.ID},
			life.UpdateItem{Kind: workbench.Goal, ID: goal.ID, Expected: 1, GoalID: some(goal.ID)},
		},
	} {
		for _, op := range ops {
			s.refuse(t, "r", op, want)
		}
	}
	// Taking away what a kind does not have changes nothing of it.
	s.do(t, "r", life.UpdateItem{Kind: workbench.Goal, ID: goal.ID, Expected: 1, GoalID: some(""), Due: some("")})
}

func TestUpdateChangesWhatItNames(t *testing.T) {
	s := &memoryStore{}
	some := nova.Some[string]
	goal := s.do(t, "g", newGoal("G"))
	todo := s.do(t, "t", life.CreateItem{Kind: workbench.Todo, Title: "T", Note: "N", Due: "2026-01-02", GoalID: goal.ID})
	before := s.item(t, workbench.Todo, todo.ID)
	later := moment.Add(time.Hour)
	done, err := life.Mutate(s, "u", life.UpdateItem{Kind: workbench.Todo, ID: todo.ID, Expected: 1, Status: "doing"}, later)
	if err != nil || done != (life.Outcome{ID: todo.ID, Version: 2}) {
		t.Fatal(done, err)
	}
	want := before
	want.Status, want.Version, want.UpdatedAt = "doing", 2, later.UTC()
	if got := s.item(t, workbench.Todo, todo.ID); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.do(t, "v", life.UpdateItem{
		Kind: workbench.Todo, ID: todo.ID, Expected: 2, Title: some("U"), Note: some(""), GoalID: some(""), Due: some("")})
	want.Title, want.Note, want.GoalID, want.Due, want.Version, want.UpdatedAt = "U", "", "", "", 3, moment.UTC()
	if got := s.item(t, workbench.Todo, todo.ID); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.refuse(t, "w", statusOf(workbench.Todo, life.Outcome{ID: "no", Version: 1}, "done"), workbench.ItemNotFound)
	s.refuse(t, "w", statusOf(workbench.Idea, life.Outcome{ID: todo.ID, Version: 3}, "archived"), workbench.ItemNotFound)
}

func TestP82_StaleVersionChangesNothing(t *testing.T) {
	s := &memoryStore{profile: life.Profile{About: "me", Version: 4}}
	todo, idea := s.do(t, "t", newTodo("T")), s.do(t, "i", newIdea("I"))
	s.do(t, "u", statusOf(workbench.Todo, todo, "doing"))
	before := fmt.Sprint(s.items, s.profile)
	for _, op := range []life.Op{
		statusOf(workbench.Todo, todo, "done"),
		statusOf(workbench.Todo, life.Outcome{ID: todo.ID, Version: 3}, "done"),
		life.ConvertIdea{ID: idea.ID, Target: workbench.Todo, Expected: 2},
		life.UndoCreate{ID: todo.ID},
		life.SetProfile{About: "you", Expected: 3},
		life.SetProfile{About: "you", Expected: 5},
	} {
		s.refuse(t, "r", op, workbench.VersionConflict)
	}
	if after := fmt.Sprint(s.items, s.profile); after != before {
		t.Errorf("%s, was %s", after, before)
	}
}

func TestP81_AnIdeaBecomesOneTodo(t *testing.T) {
	s := &memoryStore{}
	goal := s.do(t, "g", newGoal("G"))
	idea := s.do(t, "i", life.CreateItem{Kind: workbench.Idea, Title: "I", Note: "N", GoalID: goal.ID})
	op := life.ConvertIdea{ID: idea.ID, Target: workbench.Todo, Expected: 1}
	todo := s.do(t, "c1", op)
	if again := s.do(t, "c2", op); again != todo {
		t.Errorf("%+v, then %+v", todo, again)
	}
	s.do(t, "u", statusOf(workbench.Idea, idea, "archived"))
	if again := s.do(t, "c3", op); again != todo { // with an outdated version, of an archived idea
		t.Errorf("%+v, then %+v", todo, again)
	}
	if todos, _ := s.Items(workbench.Todo); len(todos) != 1 {
		t.Errorf("%d to-dos", len(todos))
	}
	got := s.item(t, workbench.Todo, todo.ID)
	if got.Title != "I" || got.Note != "N" || got.GoalID != goal.ID || got.IdeaID != idea.ID || got.Status != "open" {
		t.Errorf("%+v", got)
	}
	s.item(t, workbench.Idea, idea.ID) // it is kept
	s.refuse(t, "c4", life.ConvertIdea{ID: idea.ID, Target: workbench.Goal, Expected: 2}, workbench.IdeaArchived)
	s.refuse(t, "c4", life.ConvertIdea{ID: "no", Target: workbench.Goal, Expected: 1}, workbench.IdeaNotFound)
}

func TestAnIdeaBecomesAGoalOutsideOfItsOwn(t *testing.T) {
	s := &memoryStore{}
	goal := s.do(t, "g", newGoal("G"))
	idea := s.do(t, "i", life.CreateItem{Kind: workbench.Idea, Title: "I", GoalID: goal.ID})
	made := s.do(t, "c", life.ConvertIdea{ID: idea.ID, Target: workbench.Goal, Expected: 1})
	if got := s.item(t, workbench.Goal, made.ID); got.GoalID != "" || got.IdeaID != idea.ID || got.Status != "active" {
		t.Errorf("%+v", got)
	}
}

func TestGoalLinks(t *testing.T) {
	s := &memoryStore{}
	some := nova.Some[string]
	goal := s.do(t, "g", newGoal("G"))
	todo := s.do(t, "t", life.CreateItem{Kind: workbench.Todo, Title: "T", GoalID: goal.ID})
	idea := s.do(t, "i", life.CreateItem{Kind: workbench.Idea, Title: "I", GoalID: goal.ID})
	other := s.do(t, "o", newTodo("O"))
	s.do(t, "a", statusOf(workbench.Goal, goal, "archived"))
	for _, id := range []string{"no", goal.ID, todo.ID} {
		s.refuse(t, "r", life.CreateItem{Kind: workbench.Todo, Title: "T", GoalID: id}, workbench.GoalNotFound)
		s.refuse(t, "r", life.UpdateItem{Kind: workbench.Todo, ID: other.ID, Expected: 1, GoalID: some(id)}, workbench.GoalNotFound)
	}
	s.do(t, "k1", life.UpdateItem{Kind: workbench.Todo, ID: todo.ID, Expected: 1, GoalID: some(goal.ID)})
	s.do(t, "k2", life.UpdateItem{Kind: workbench.Todo, ID: todo.ID, Expected: 2, Note: some("kept")})
	made := s.do(t, "k3", life.ConvertIdea{ID: idea.ID, Target: workbench.Todo, Expected: 1})
	for _, id := range []string{todo.ID, made.ID} {
		if got := s.item(t, workbench.Todo, id); got.GoalID != goal.ID {
			t.Errorf("%+v has lost its goal", got)
		}
	}
}

func TestUndoTakesBackAnUnchangedTodo(t *testing.T) {
	s := &memoryStore{}
	todo, idea := s.do(t, "t", newTodo("T")), s.do(t, "i", newIdea("I"))
	s.refuse(t, "u", life.UndoCreate{ID: idea.ID}, workbench.ItemNotFound)
	if done := s.do(t, "u", life.UndoCreate{ID: todo.ID}); done != todo || s.find(workbench.Todo, todo.ID) >= 0 {
		t.Errorf("%+v, %+v", done, s.items)
	}
	s.refuse(t, "u2", life.UndoCreate{ID: todo.ID}, workbench.ItemNotFound)
}

func TestProfile(t *testing.T) {
	s := &memoryStore{}
	if done := s.do(t, "p", life.SetProfile{About: "me"}); done != (life.Outcome{ID: "profile", Version: 1}) {
		t.Errorf("%+v", done)
	}
	if s.profile != (life.Profile{About: "me", Version: 1}) {
		t.Errorf("%+v", s.profile)
	}
}

func TestNewsAreConvertedElsewhere(t *testing.T) {
	(&memoryStore{}).refuse(t, "n", life.FromNews{}, workbench.NewsCommandRequired)
}

func TestListsAreBounded(t *testing.T) {
	for kind, most := range map[workbench.ItemKind]int{workbench.Todo: 1000, workbench.Idea: 1000, workbench.Goal: 200} {
		s := &memoryStore{}
		for i := range most - 1 {
			s.items = append(s.items, life.Item{ID: fmt.Sprint(i), Kind: kind, Version: 1, Status: "active"})
		}
		op := life.CreateItem{Kind: kind, Title: "T"}
		s.do(t, "last", op)
		s.refuse(t, "more", op, workbench.StoreCapacity)
		if kind == workbench.Idea {
			continue
		}
		idea := s.do(t, "idea", newIdea("I"))
		s.refuse(t, "convert", life.ConvertIdea{ID: idea.ID, Target: kind, Expected: 1}, workbench.StoreCapacity)
	}
}

// A store that fails is no refusal: nothing may be concluded from it.
func TestAFailingShelfIsNoRefusal(t *testing.T) {
	s := &memoryStore{}
	todo, idea := s.do(t, "t", newTodo("T")), s.do(t, "i", newIdea("I"))
	s.broken = errors.New("disk")
	for _, op := range []life.Op{
		newTodo("U"), statusOf(workbench.Todo, todo, "done"), life.UndoCreate{ID: todo.ID},
		life.ConvertIdea{ID: idea.ID, Target: workbench.Todo, Expected: 1}, life.SetProfile{},
	} {
		if _, err := life.Mutate(s, "r", op, moment); !errors.Is(err, s.broken) {
			t.Errorf("%#v: %v", op, err)
		}
	}
}

func TestItemsComeBackAsTheyWere(t *testing.T) {
	at := moment.UTC().Round(0)
	for _, it := range []life.Item{
		{ID: "a", Kind: workbench.Todo, Version: 3, Title: "<T> & é🎧", Note: "a\nb", Status: "open", Due: "2026-01-02",
			GoalID: "g", IdeaID: "i", CreatedAt: at, UpdatedAt: at.Add(time.Nanosecond)},
		{ID: "b", Kind: workbench.Goal, Version: 1, Title: "G", Status: "active", Criteria: strings.Repeat("c", 2000), CreatedAt: at, UpdatedAt: at},
	} {
		body, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		var got life.Item
		if err := json.Unmarshal(body, &got); err != nil || got != it {
			t.Errorf("%+v comes back as %+v, %v", it, got, err)
		}
	}
}
