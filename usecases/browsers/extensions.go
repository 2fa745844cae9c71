package browsers

import (
	"context"
	"fmt"
	"slices"

	"plexus/domain/admission"
	"plexus/ports"
)

// OriginAllowed reports whether some key of the origin, or the origin itself,
// is allowed. It is what the listener tells an extension that asks (decision D7a).
func (r *Registry) OriginAllowed(ctx context.Context, origin string) bool {
	if slices.Contains(r.opts.AllowedOrigins, origin) {
		return true
	}
	rows, err := r.deps.Extensions.Extensions(ctx)
	if err != nil {
		r.storeFailed(ctx, "list extensions", err)
		return false
	}
	return slices.ContainsFunc(rows, func(e admission.Extension) bool {
		return e.Origin == origin && (e.State == admission.Allowed || e.State == admission.ByToken)
	})
}

// Extensions lists every row by ID.
func (r *Registry) Extensions(ctx context.Context) ([]admission.Extension, error) {
	rows, err := r.deps.Extensions.Extensions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list extensions: %w", err)
	}
	return rows, nil
}

// AllowExtension lets a row in, durably, from its next handshake on. Unknown is
// ports.ErrExtensionUnknown.
func (r *Registry) AllowExtension(ctx context.Context, id int64) (admission.Extension, error) {
	state := admission.Allowed
	row, err := r.setState(ctx, id, func(e admission.Extension) admission.State {
		if e.Key == (admission.KeyHash{}) {
			state = admission.ByToken // a row without a key stays tied to the token
		}
		return state
	})
	if err != nil {
		return admission.Extension{}, fmt.Errorf("allow extension %d: %w", id, err)
	}
	return row, nil
}

// RemoveExtension blocks a row, durably, and then ends its live connections.
func (r *Registry) RemoveExtension(ctx context.Context, id int64) (admission.Extension, error) {
	row, err := r.setState(ctx, id, func(admission.Extension) admission.State { return admission.Blocked })
	if err != nil {
		return admission.Extension{}, fmt.Errorf("remove extension %d: %w", id, err)
	}
	r.endLinks(func() {}, func(p admission.Peer) bool { return p.RowID == id })
	return row, nil
}

// ForgetExtension deletes a row, durably, and then ends its live connections.
// Its next handshake waits like any first one.
func (r *Registry) ForgetExtension(ctx context.Context, id int64) error {
	if err := r.deps.Extensions.ForgetExtension(context.WithoutCancel(ctx), id); err != nil {
		return fmt.Errorf("forget extension %d: %w", id, err)
	}
	r.endLinks(func() {}, func(p admission.Peer) bool { return p.RowID == id })
	return nil
}

func (r *Registry) setState(ctx context.Context, id int64, next func(admission.Extension) admission.State) (admission.Extension, error) {
	rows, err := r.deps.Extensions.Extensions(ctx)
	if err != nil {
		return admission.Extension{}, err
	}
	i := slices.IndexFunc(rows, func(e admission.Extension) bool { return e.ID == id })
	if i < 0 {
		return admission.Extension{}, ports.ErrExtensionUnknown
	}
	row := rows[i]
	row.State = next(row)
	defer r.changes.Notify()
	// A store may report that ctx has ended after it has stored; then the removed
	// peer's connections would stay open.
	return r.deps.Extensions.SaveExtension(context.WithoutCancel(ctx), row)
}

// RotateToken makes a new host token and ends every connection that came with
// the old one.
func (r *Registry) RotateToken(context.Context) error {
	r.rotating.Lock()
	defer r.rotating.Unlock()
	hash, err := r.deps.Token.RotateToken()
	if err != nil {
		return fmt.Errorf("rotate the host token: %w", err)
	}
	r.endLinks(func() { r.token = hash }, func(p admission.Peer) bool {
		return p.Basis == admission.AsTool || p.Basis == admission.AsTokenHolder
	})
	return nil
}
