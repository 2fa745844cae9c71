// Package life keeps the owner's to-dos, ideas, goals and profile: life.mutate,
// and the member life of the snapshot (nova-personal §3.9, §8.2).
package life

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/hub"
	"plexus/usecases/personal/stored"
)

// Kinds of records; an item is in one of its list's name.
const (
	profileKind = "profile" // there is one
	resultKind  = "life_result"

	profileID  = "owner"
	maxResults = 256
)

// Life is the owner's lists.
type Life struct{ hub *hub.Hub }

// New makes them.
func New(h *hub.Hub) *Life { return &Life{h} }

// Area is what the hub has to know of them.
func (l *Life) Area() hub.Area {
	return hub.Area{
		Commands: []hub.Command{
			{Method: "life.mutate", Phone: true, Loose: true, Do: hub.Apply(func(tx ports.PersonalTx, r hub.Request, p Params) (any, error) {
				return l.mutate(tx, r.ID, r.Fingerprint, p.Op)
			})},
		},
		Members: []hub.Member{{Name: "life", Desktop: l.section, Phone: l.section}},
	}
}

func (l *Life) section(tx ports.PersonalView, _ *hub.Client) (hub.Value, error) {
	items, profile, err := read(tx)
	return Value(items, profile), err
}

// Lists gives the owner's to-dos, ideas, goals and profile.
func (l *Life) Lists(ctx context.Context) (items []Item, profile Profile, err error) {
	err = l.hub.Store.View(ctx, func(tx ports.PersonalView) error {
		items, profile, err = read(tx)
		return err
	})
	if err != nil {
		return nil, profile, fmt.Errorf("read the lists: %w", err)
	}
	return items, profile, nil
}

// MutateLife changes the lists; op keeps the bounds of its members. The same
// request ID with the same change has the same outcome and happens once.
func (l *Life) MutateLife(ctx context.Context, requestID string, op Op) (done Outcome, err error) {
	hash := sha256.Sum256(fmt.Appendf(nil, "%#v", op)) // quoted, so that no text can look like a member
	err = l.hub.Change(ctx, hub.Mutation{Apply: func(tx ports.PersonalTx) (_ any, err error) {
		done, err = l.mutate(tx, "page:"+requestID, hex.EncodeToString(hash[:]), op)
		return nil, err
	}})
	if err != nil {
		return done, fmt.Errorf("change the lists: %w", err)
	}
	return done, nil
}

// result is what is kept of an operation. It outlives the ledger's receipt.
type result struct {
	Fingerprint string  `json:"payload"`
	Outcome     Outcome `json:"result"`
}

func (l *Life) mutate(tx ports.PersonalTx, requestID, fingerprint string, op Op) (Outcome, error) {
	before, ok, err := stored.Load[result](tx, resultKind, requestID)
	switch {
	case err != nil:
		return Outcome{}, err
	case ok && before.Fingerprint != fingerprint:
		return Outcome{}, workbench.RequestIDConflict
	case ok:
		return before.Outcome, nil
	}
	done, err := Mutate(itemStore{tx}, requestID, op, l.hub.Timestamp())
	if err != nil {
		return done, err
	}
	return done, stored.Save(tx, resultKind, requestID, result{fingerprint, done}, maxResults)
}

// TodoVersion is the version of a to-do; ok is false when it is not there.
func TodoVersion(tx ports.PersonalView, id string) (version uint64, ok bool, err error) {
	item, ok, err := stored.Load[Item](tx, string(workbench.Todo), id)
	return item.Version, ok, err
}

// read gives every list, each in the order in which its items were made.
func read(tx ports.PersonalView) (items []Item, profile Profile, err error) {
	for _, kind := range []workbench.ItemKind{workbench.Todo, workbench.Idea, workbench.Goal} {
		list, err := stored.All[Item](tx, string(kind), MaxTodos)
		if err != nil {
			return nil, Profile{}, err
		}
		items = append(items, list...)
	}
	profile, _, err = stored.Load[Profile](tx, profileKind, profileID)
	return items, profile, err
}

// itemStore is the lists in a transaction.
type itemStore struct{ tx ports.PersonalTx }

var _ ItemStore = itemStore{}

func (s itemStore) Item(kind workbench.ItemKind, id string) (Item, bool, error) {
	return stored.Load[Item](s.tx, string(kind), id)
}

func (s itemStore) Items(kind workbench.ItemKind) ([]Item, error) {
	return stored.All[Item](s.tx, string(kind), MaxTodos)
}

func (s itemStore) PutItem(i Item) error { return stored.Save(s.tx, string(i.Kind), i.ID, i, 0) }

func (s itemStore) DropItem(kind workbench.ItemKind, id string) error {
	return s.tx.DropRecord(string(kind), id)
}

func (s itemStore) Profile() (Profile, error) {
	p, _, err := stored.Load[Profile](s.tx, profileKind, profileID)
	return p, err
}

func (s itemStore) PutProfile(p Profile) error {
	return stored.Save(s.tx, profileKind, profileID, p, 0)
}
