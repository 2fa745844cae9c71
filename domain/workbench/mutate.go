package workbench

import (
	"time"

	"plexus/domain/nova"
)

// Mutate carries out one operation on the owner's lists. A Refusal has changed
// nothing: everything is checked before the first Put. now is when; an item that
// requestID makes has the SHA-256 of it for its ID, so that no request makes two
// (nova-personal §8.2).
func Mutate(s Shelf, requestID string, op LifeOp, now time.Time) (LifeOutcome, error) {
	m := mutation{s, sum([]byte(requestID)), now.UTC().Round(0)}
	switch op := op.(type) {
	case CreateItem:
		return m.create(op)
	case UpdateItem:
		return m.update(op)
	case ConvertIdea:
		return m.convert(op)
	case UndoCreate:
		return m.undo(op)
	case SetProfile:
		return m.setProfile(op)
	case FromNews:
		return LifeOutcome{}, NewsCommandRequired
	}
	return LifeOutcome{}, InvalidRequest
}

// mutation is one operation under way.
type mutation struct {
	Shelf
	newID string
	now   time.Time
}

// archived is the status that takes an idea or a goal out of use.
const archived = "archived"

func (m mutation) create(op CreateItem) (LifeOutcome, error) {
	if err := fits(op.Kind, op.GoalID, op.Due, op.Criteria); err != nil {
		return LifeOutcome{}, err
	}
	return m.add(Item{
		Kind: op.Kind, Title: op.Title, Note: op.Note, Due: op.Due, GoalID: op.GoalID, Criteria: op.Criteria,
	}, "")
}

// add puts a new item. linked is the goal that it may have though it is archived.
func (m mutation) add(made Item, linked string) (LifeOutcome, error) {
	made.ID, made.Version, made.Status = m.newID, 1, statuses(made.Kind)[0]
	made.CreatedAt, made.UpdatedAt = m.now, m.now
	if outcome, known, err := m.known(made); known || err != nil {
		return outcome, err
	}
	if err := m.linkable(made.GoalID, linked); err != nil {
		return LifeOutcome{}, err
	}
	row, err := m.Items(made.Kind)
	if err != nil {
		return LifeOutcome{}, err
	}
	if len(row) >= maxItems(made.Kind) {
		return LifeOutcome{}, StoreCapacity
	}
	return LifeOutcome{made.ID, made.Version}, m.PutItem(made)
}

// known finds what the same request has made before, which only happens when
// every receipt of it is gone. Anything but the same item is another request.
func (m mutation) known(made Item) (outcome LifeOutcome, known bool, err error) {
	for _, kind := range []ItemKind{Todo, Idea, Goal} {
		old, ok, err := m.Item(kind, made.ID)
		if err != nil {
			return LifeOutcome{}, false, err
		}
		made.CreatedAt, made.UpdatedAt = old.CreatedAt, old.UpdatedAt
		switch {
		case ok && old == made:
			return LifeOutcome{old.ID, old.Version}, true, nil
		case ok:
			return LifeOutcome{}, false, RequestIDConflict
		}
	}
	return LifeOutcome{}, false, nil
}

func (m mutation) update(op UpdateItem) (LifeOutcome, error) {
	if err := fits(op.Kind, op.GoalID.Value, op.Due.Value, op.Criteria.Value); err != nil {
		return LifeOutcome{}, err
	}
	it, ok, err := m.Item(op.Kind, op.ID)
	switch {
	case err != nil:
		return LifeOutcome{}, err
	case !ok:
		return LifeOutcome{}, ItemNotFound
	case it.Version != op.Expected:
		return LifeOutcome{}, VersionConflict
	}
	if err := m.linkable(op.GoalID.Value, it.GoalID); err != nil {
		return LifeOutcome{}, err
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
	return LifeOutcome{it.ID, it.Version}, m.PutItem(it)
}

// convert makes a to-do or a goal of an idea, once: afterwards it gives what was
// made, whatever became of the idea.
func (m mutation) convert(op ConvertIdea) (LifeOutcome, error) {
	idea, ok, err := m.Item(Idea, op.ID)
	if err != nil {
		return LifeOutcome{}, err
	}
	if !ok {
		return LifeOutcome{}, IdeaNotFound
	}
	row, err := m.Items(op.Target)
	if err != nil {
		return LifeOutcome{}, err
	}
	for _, it := range row {
		if it.IdeaID == idea.ID {
			return LifeOutcome{it.ID, it.Version}, nil
		}
	}
	switch {
	case idea.Version != op.Expected:
		return LifeOutcome{}, VersionConflict
	case idea.Status == archived:
		return LifeOutcome{}, IdeaArchived
	}
	made := Item{Kind: op.Target, Title: idea.Title, Note: idea.Note, IdeaID: idea.ID}
	if made.Kind == Todo { // a goal is in no other
		made.GoalID = idea.GoalID
	}
	return m.add(made, idea.GoalID)
}

func (m mutation) undo(op UndoCreate) (LifeOutcome, error) {
	it, ok, err := m.Item(Todo, op.ID)
	switch {
	case err != nil:
		return LifeOutcome{}, err
	case !ok:
		return LifeOutcome{}, ItemNotFound
	case it.Version != 1:
		return LifeOutcome{}, VersionConflict
	}
	return LifeOutcome{it.ID, it.Version}, m.DropItem(Todo, it.ID)
}

func (m mutation) setProfile(op SetProfile) (LifeOutcome, error) {
	p, err := m.Profile()
	if err != nil {
		return LifeOutcome{}, err
	}
	if p.Version != op.Expected {
		return LifeOutcome{}, VersionConflict
	}
	p.About, p.Version = op.About, p.Version+1
	return LifeOutcome{"profile", p.Version}, m.PutProfile(p)
}

// linkable checks the goal that an item is to be in, "" for none. The one that
// it is in already may have been archived since.
func (m mutation) linkable(goalID, linked string) error {
	if goalID == "" || goalID == linked {
		return nil
	}
	goal, ok, err := m.Item(Goal, goalID)
	switch {
	case err != nil:
		return err
	case !ok || goal.Status == archived:
		return GoalNotFound
	}
	return nil
}

// fits checks that an item of this kind may have these members; "" is none.
func fits(kind ItemKind, goalID, due, criteria string) error {
	switch {
	case due != "" && kind != Todo:
		return DueOnlyForTodo
	case criteria != "" && kind != Goal:
		return CriteriaOnlyForGoal
	case goalID != "" && kind == Goal:
		return GoalCannotParent
	}
	return nil
}

func maxItems(kind ItemKind) int {
	switch kind {
	case Todo:
		return MaxTodos
	case Idea:
		return MaxIdeas
	}
	return MaxGoals
}

// given is what an update asks for, or else what there was.
func given(asked nova.Optional[string], was string) string {
	if asked.Set {
		return asked.Value
	}
	return was
}
