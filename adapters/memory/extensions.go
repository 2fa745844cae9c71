package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"plexus/domain/admission"
	"plexus/ports"
)

// Extensions is a registry of extensions that lives as long as the process.
type Extensions struct {
	mu   sync.Mutex
	last int64 // highest ID ever given
	rows []admission.Extension
}

var _ ports.ExtensionRegistry = (*Extensions)(nil)

// NewExtensions gives an empty registry.
func NewExtensions() *Extensions { return &Extensions{} }

// FindExtension implements ports.ExtensionRegistry.
func (x *Extensions) FindExtension(ctx context.Context, origin string, key admission.KeyHash) (admission.Extension, error) {
	if err := ctx.Err(); err != nil {
		return admission.Extension{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := x.indexOf(origin, key); i >= 0 {
		return x.rows[i], nil
	}
	return admission.Extension{}, ports.ErrExtensionUnknown
}

// SaveExtension implements ports.ExtensionRegistry.
func (x *Extensions) SaveExtension(ctx context.Context, e admission.Extension) (admission.Extension, error) {
	if err := ctx.Err(); err != nil {
		return admission.Extension{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	i := x.indexOf(e.Origin, e.Key)
	if e.ID != 0 {
		i = slices.IndexFunc(x.rows, func(row admission.Extension) bool { return row.ID == e.ID })
	}
	switch {
	case i >= 0:
		row := &x.rows[i]
		if e.State != admission.Waiting && e.ID != 0 { // a visit does not undo a decision
			row.State = e.State
		}
		row.LastSeen = e.LastSeen
		return *row, nil
	case e.ID != 0:
		return admission.Extension{}, ports.ErrExtensionUnknown
	}
	if e.State == admission.Waiting {
		x.makeRoom(e.Origin)
	}
	x.last++
	e.ID = x.last
	x.rows = append(x.rows, e)
	return e, nil
}

// makeRoom drops the waiting row that was seen longest ago when one more would
// be too many: of this origin if its own limit is met, else of all.
func (x *Extensions) makeRoom(origin string) {
	ofOrigin, ofAll := 0, 0
	var oldestOfOrigin, oldest *admission.Extension
	for i := range x.rows {
		row := &x.rows[i]
		if row.State != admission.Waiting {
			continue
		}
		ofAll++
		if oldest == nil || row.LastSeen.Before(oldest.LastSeen) {
			oldest = row
		}
		if row.Origin != origin {
			continue
		}
		ofOrigin++
		if oldestOfOrigin == nil || row.LastSeen.Before(oldestOfOrigin.LastSeen) {
			oldestOfOrigin = row
		}
	}
	switch {
	case ofOrigin >= admission.MaxWaitingPerOrigin:
		x.drop(oldestOfOrigin.ID)
	case ofAll >= admission.MaxWaiting:
		x.drop(oldest.ID)
	}
}

// Extensions implements ports.ExtensionRegistry.
func (x *Extensions) Extensions(ctx context.Context) ([]admission.Extension, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.SortedFunc(slices.Values(x.rows), func(a, b admission.Extension) int { return cmp.Compare(a.ID, b.ID) }), nil
}

// ForgetExtension implements ports.ExtensionRegistry.
func (x *Extensions) ForgetExtension(ctx context.Context, id int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.drop(id) {
		return ports.ErrExtensionUnknown
	}
	return nil
}

func (x *Extensions) drop(id int64) bool {
	before := len(x.rows)
	x.rows = slices.DeleteFunc(x.rows, func(row admission.Extension) bool { return row.ID == id })
	return len(x.rows) < before
}

func (x *Extensions) indexOf(origin string, key admission.KeyHash) int {
	return slices.IndexFunc(x.rows, func(row admission.Extension) bool {
		return row.Origin == origin && row.Key.Equal(key)
	})
}
