package life

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// ItemStore keeps the lists. Item's ok is false for what is not there.
type ItemStore interface {
	Item(kind workbench.ItemKind, id string) (item Item, ok bool, err error)
	Items(kind workbench.ItemKind) ([]Item, error)
	PutItem(Item) error
	DropItem(kind workbench.ItemKind, id string) error
	Profile() (Profile, error)
	PutProfile(Profile) error
}

// Mutate carries out one operation on the owner's lists. A Refusal has changed
// nothing: everything is checked before the first Put. now is when; an item that
// requestID makes has the SHA-256 of it for its ID, so that no request makes two
// (nova-personal §8.2).
func Mutate(s ItemStore, requestID string, op Op, now time.Time) (Outcome, error) {
	hash := sha256.Sum256([]byte(requestID))
	return op.apply(operation{s, hex.EncodeToString(hash[:]), now.UTC().Round(0)})
}

// operation is one operation under way.
type operation struct {
	ItemStore
	newID string
	now   time.Time
}

func (op CreateItem) apply(m operation) (Outcome, error) {
	if err := fits(op.Kind, op.GoalID, op.Due, op.Criteria); err != nil {
		return Outcome{}, err
	}
	return m.add(Item{
		Kind: op.Kind, Title: op.Title, Note: op.Note, Due: op.Due, GoalID: op.GoalID, Criteria: op.Criteria,
	}, "")
}

// add puts a new item. linked is the goal that it may have though it is archived.
func (m operation) add(made Item, linked string) (Outcome, error) {
	made.ID, made.Version, made.Status = m.newID, 1, lists[made.Kind].statuses[0]
	made.CreatedAt, made.UpdatedAt = m.now, m.now
	if outcome, known, err := m.known(made); known || err != nil {
		return outcome, err
	}
	if err := m.linkable(made.GoalID, linked); err != nil {
		return Outcome{}, err
	}
	row, err := m.Items(made.Kind)
	if err != nil {
		return Outcome{}, err
	}
	if len(row) >= lists[made.Kind].max {
		return Outcome{}, workbench.StoreCapacity
	}
	return Outcome{made.ID, made.Version}, m.PutItem(made)
}

// known finds what the same request has made before, which only happens when
// every receipt of it is gone. Anything but the same item is another request.
func (m operation) known(made Item) (outcome Outcome, known bool, err error) {
	for _, kind := range []workbench.ItemKind{workbench.Todo, workbench.Idea, workbench.Goal} {
		old, ok, err := m.Item(kind, made.ID)
		if err != nil {
			return Outcome{}, false, err
		}
		made.CreatedAt, made.UpdatedAt = old.CreatedAt, old.UpdatedAt
		switch {
		case ok && old == made:
			return Outcome{old.ID, old.Version}, true, nil
		case ok:
			return Outcome{}, false, workbench.RequestIDConflict
		}
	}
	return Outcome{}, false, nil
}

func (op UpdateItem) apply(m operation) (Outcome, error) {
	if err := fits(op.Kind, op.GoalID.Value, op.Due.Value, op.Criteria.Value); err != nil {
		return Outcome{}, err
	}
	it, ok, err := m.Item(op.Kind, op.ID)
	switch {
	case err != nil:
		return Outcome{}, err
	case !ok:
		return Outcome{}, workbench.ItemNotFound
	case it.Version != op.Expected:
		return Outcome{}, workbench.VersionConflict
	}
	if err := m.linkable(op.GoalID.Value, it.GoalID); err != nil {
		return Outcome{}, err
	}
	it.Title = given(op.Title, it.Title)
	it.Note = given(op.Note, it.Note)
	it.Criteria = given(op.Criteria, it.Criteria)
	it.GoalID = given(op.GoalID, it.GoalID)
	it.Due = given(op.Due, it.Due)
	if op.Status != "" {
		it.Status = op.Status
	}
	it.Version, it.UpdatedAt = it.Version+1, m.now
	return Outcome{it.ID, it.Version}, m.PutItem(it)
}

// apply makes a to-do or a goal of the idea, once: afterwards it gives what was
// made, whatever became of the idea.
func (op ConvertIdea) apply(m operation) (Outcome, error) {
	idea, ok, err := m.Item(workbench.Idea, op.ID)
	if err != nil {
		return Outcome{}, err
	}
	if !ok {
		return Outcome{}, workbench.IdeaNotFound
	}
	row, err := m.Items(op.Target)
	if err != nil {
		return Outcome{}, err
	}
	for _, it := range row {
		if it.IdeaID == idea.ID {
			return Outcome{it.ID, it.Version}, nil
		}
	}
	switch {
	case idea.Version != op.Expected:
		return Outcome{}, workbench.VersionConflict
	case idea.Status == archived:
		return Outcome{}, workbench.IdeaArchived
	}
	made := Item{Kind: op.Target, Title: idea.Title, Note: idea.Note, IdeaID: idea.ID}
	if made.Kind == workbench.Todo { // a goal is in no other
		made.GoalID = idea.GoalID
	}
	return m.add(made, idea.GoalID)
}

func (op UndoCreate) apply(m operation) (Outcome, error) {
	it, ok, err := m.Item(workbench.Todo, op.ID)
	switch {
	case err != nil:
		return Outcome{}, err
	case !ok:
		return Outcome{}, workbench.ItemNotFound
	case it.Version != 1:
		return Outcome{}, workbench.VersionConflict
	}
	return Outcome{it.ID, it.Version}, m.DropItem(workbench.Todo, it.ID)
}

func (FromNews) apply(operation) (Outcome, error) {
	return Outcome{}, workbench.NewsCommandRequired
}

func (op SetProfile) apply(m operation) (Outcome, error) {
	p, err := m.Profile()
	if err != nil {
		return Outcome{}, err
	}
	if p.Version != op.Expected {
		return Outcome{}, workbench.VersionConflict
	}
	p.About, p.Version = op.About, p.Version+1
	return Outcome{"profile", p.Version}, m.PutProfile(p)
}

// linkable checks the goal that an item is to be in, "" for none. The one that
// it is in already may have been archived since.
func (m operation) linkable(goalID, linked string) error {
	if goalID == "" || goalID == linked {
		return nil
	}
	goal, ok, err := m.Item(workbench.Goal, goalID)
	switch {
	case err != nil:
		return err
	case !ok || goal.Status == archived:
		return workbench.GoalNotFound
	}
	return nil
}

// fits checks that an item of this kind may have these members; "" is none.
func fits(kind workbench.ItemKind, goalID, due, criteria string) error {
	switch {
	case due != "" && kind != workbench.Todo:
		return workbench.DueOnlyForTodo
	case criteria != "" && kind != workbench.Goal:
		return workbench.CriteriaOnlyForGoal
	case goalID != "" && kind == workbench.Goal:
		return workbench.GoalCannotParent
	}
	return nil
}

// given is what an update asks for, or else what there was.
func given(asked nova.Optional[string], was string) string {
	if asked.Set {
		return asked.Value
	}
	return was
}
