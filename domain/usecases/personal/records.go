package personal

import (
	"encoding/json"
	"errors"
	"fmt"

	"plexus/domain/conversations"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Areas of the store's records.
const (
	areaHost       = "host"        // revision, selected
	areaReceipts   = "receipt"     // of commands
	areaHandbacks  = "handback"    // identities of presentation.set
	areaLife       = "life_result" // of life.mutate, by request
	areaProfile    = "profile"     // one
	areaFeed       = "feed"
	areaFeedTopics = "feed_topic" // feed item → conversation
	areaBackground = "background" // conversation → what it is about
	areaTasks      = "task"
)

// errDamaged stands for what is wrong with a record: the decoder's own errors
// quote it.
var errDamaged = errors.New("it is damaged")

// load decodes a record; ok is false when it is not there.
func load[T any](tx ports.PersonalView, area, id string) (v T, ok bool, err error) {
	body, err := tx.Record(area, id)
	if errors.Is(err, ports.ErrRecordUnknown) {
		return v, false, nil
	}
	if err == nil && json.Unmarshal(body, &v) != nil {
		err = errDamaged
	}
	if err != nil {
		return v, false, fmt.Errorf("read %s record: %w", area, err)
	}
	return v, true, nil
}

// save encodes a record. keep bounds the area; 0 is no bound.
func save(tx ports.PersonalTx, area, id string, v any, keep int) error {
	body, err := json.Marshal(v)
	if err == nil {
		err = tx.PutRecord(area, id, body, keep)
	}
	if err != nil {
		return fmt.Errorf("write %s record: %w", area, err)
	}
	return nil
}

// loadAll decodes an area, the oldest record first.
func loadAll[T any](tx ports.PersonalView, area string, limit int) ([]T, error) {
	records, err := tx.Records(area, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s records: %w", area, err)
	}
	all := make([]T, len(records))
	for i, r := range records {
		if json.Unmarshal(r.Body, &all[i]) != nil {
			return nil, fmt.Errorf("read %s record: %w", area, errDamaged)
		}
	}
	return all, nil
}

const (
	recordRevision = "revision"
	recordSelected = "selected"
)

func storedRevision(tx ports.PersonalView) (uint64, error) {
	revision, _, err := load[uint64](tx, areaHost, recordRevision)
	return revision, err
}

func raiseRevision(tx ports.PersonalTx) (uint64, error) {
	revision, err := storedRevision(tx)
	if err != nil {
		return 0, err
	}
	return revision + 1, save(tx, areaHost, recordRevision, revision+1, 0)
}

// selectedID is the conversation that clients show; main when none was chosen.
func selectedID(tx ports.PersonalView) (string, error) {
	id, ok, err := load[string](tx, areaHost, recordSelected)
	if err == nil && !ok {
		id = conversations.MainID
	}
	return id, err
}

func selectConversation(tx ports.PersonalTx, id string) error {
	return save(tx, areaHost, recordSelected, id, 0)
}

// shelf is the owner's lists in a transaction.
type shelf struct{ tx ports.PersonalTx }

var _ workbench.Shelf = shelf{}

func (s shelf) Item(kind workbench.ItemKind, id string) (workbench.Item, bool, error) {
	return load[workbench.Item](s.tx, string(kind), id)
}

func (s shelf) Items(kind workbench.ItemKind) ([]workbench.Item, error) { return itemsOf(s.tx, kind) }

func (s shelf) PutItem(i workbench.Item) error { return save(s.tx, string(i.Kind), i.ID, i, 0) }

func (s shelf) DropItem(kind workbench.ItemKind, id string) error {
	return s.tx.DropRecord(string(kind), id)
}

func (s shelf) Profile() (workbench.Profile, error) { return profileOf(s.tx) }

func (s shelf) PutProfile(p workbench.Profile) error { return save(s.tx, areaProfile, "owner", p, 0) }

func itemsOf(tx ports.PersonalView, kind workbench.ItemKind) ([]workbench.Item, error) {
	return loadAll[workbench.Item](tx, string(kind), workbench.MaxTodos)
}

func profileOf(tx ports.PersonalView) (workbench.Profile, error) {
	p, _, err := load[workbench.Profile](tx, areaProfile, "owner")
	return p, err
}

// allItems is every list.
func allItems(tx ports.PersonalView) ([]workbench.Item, error) {
	var all []workbench.Item
	for _, kind := range []workbench.ItemKind{workbench.Todo, workbench.Idea, workbench.Goal} {
		items, err := itemsOf(tx, kind)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
	}
	return all, nil
}
