package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plexus/domain/admission"
	"plexus/domain/sessions"
	"plexus/ports"
)

// lastSeenStep is how stale a row's last-seen time may be: a reconnecting
// extension must not cost a durable write each time.
const lastSeenStep = time.Minute

// maxOffers bounds the keys that one request may make us look up.
const maxOffers = 4

// door is the state of admission: who is in, and the token in force.
type door struct {
	mu       sync.Mutex
	token    admission.KeyHash
	live     map[ports.NerveLink]admission.Peer
	round    uint64 // rises with every removal and rotation
	refusals refusals
	lines    lineBudget

	rotating sync.Mutex // one rotation at a time, so that file and memory agree
}

func (d *door) open(token admission.KeyHash) {
	d.token = token
	d.live = make(map[ports.NerveLink]admission.Peer)
	d.lines = make(lineBudget)
}

func (d *door) state() (token admission.KeyHash, round uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.token, d.round
}

// Admit answers one knock at the NERVE WebSocket (decision D6). An unknown key
// of an extension becomes a waiting row; nothing else is written for a refusal.
func (h *Host) Admit(ctx context.Context, k admission.Knock) admission.Verdict {
	token, round := h.door.state()
	origin, class := admission.ClassifyOrigin(k.Origins)
	offers := admission.ParseOffers(k.Protocols)
	var v admission.Verdict
	switch entry, hasToken := findToken(offers, token); {
	case class == admission.ForeignOrigin:
		v = admission.Refuse(admission.WebOrigin)
	case class == admission.NoOrigin && hasToken:
		v = admission.Verdict{Admitted: true, Entry: entry, Peer: admission.Peer{Basis: admission.AsTool}}
	case class == admission.NoOrigin:
		v = admission.Refuse(admission.NoToken)
	case hasToken:
		v = h.admitByToken(ctx, origin, entry)
	case len(offers) == 0 && slices.Contains(h.opts.AllowedOrigins, origin):
		v = admission.Verdict{Admitted: true, Peer: admission.Peer{Origin: origin, Basis: admission.AsListed}}
	case len(offers) == 0:
		v = admission.Refuse(admission.NoKey)
	default:
		v = h.admitByKey(ctx, origin, offers)
	}
	v.Round = round
	if !v.Admitted && ctx.Err() == nil { // a peer that hung up was not refused
		h.Refuse(v.Cause, origin)
	}
	return v
}

// findToken compares every offer, so that the time taken does not depend on
// which one is right.
func findToken(offers []admission.Offer, token admission.KeyHash) (entry string, ok bool) {
	for _, o := range offers {
		if o.IsKey && o.Key.Equal(token) && !ok {
			entry, ok = o.Entry, true
		}
	}
	return entry, ok
}

func (h *Host) admitByToken(ctx context.Context, origin, entry string) admission.Verdict {
	row, err := h.deps.Extensions.FindExtension(ctx, origin, admission.KeyHash{})
	switch {
	case errors.Is(err, ports.ErrExtensionUnknown):
		row = admission.Extension{Origin: origin, State: admission.ByToken}
	case err != nil:
		return h.storeFailed(ctx, "find extension by token", err)
	case row.State == admission.Blocked:
		return admission.Refuse(admission.KeyBlocked)
	}
	row = h.seen(ctx, row)
	return admission.Verdict{Admitted: true, Entry: entry, Peer: admission.Peer{Origin: origin, Basis: admission.AsTokenHolder, RowID: row.ID}}
}

func (h *Host) admitByKey(ctx context.Context, origin string, offers []admission.Offer) admission.Verdict {
	refusal := admission.Refuse(admission.WrongOffer)
	looked := 0
	for _, o := range offers {
		if !o.IsKey {
			continue
		}
		if looked++; looked > maxOffers {
			break
		}
		row, err := h.deps.Extensions.FindExtension(ctx, origin, o.Key)
		switch {
		case errors.Is(err, ports.ErrExtensionUnknown):
			row = admission.Extension{Origin: origin, Key: o.Key, State: admission.Waiting}
		case err != nil:
			return h.storeFailed(ctx, "find extension", err)
		}
		switch row.State {
		case admission.Allowed:
			row = h.seen(ctx, row)
			return admission.Verdict{Admitted: true, Entry: o.Entry, Peer: admission.Peer{Origin: origin, Basis: admission.AsExtension, RowID: row.ID}}
		case admission.Blocked:
			refusal = admission.Refuse(admission.KeyBlocked)
		default:
			h.seen(ctx, row)
			refusal = admission.Refuse(admission.KeyWaiting)
		}
	}
	return refusal
}

// seen stores a new row, or an old one whose last-seen time has grown stale. A
// failure is logged and costs the peer nothing: what decides is already known.
func (h *Host) seen(ctx context.Context, row admission.Extension) admission.Extension {
	now := h.deps.Now()
	if row.ID != 0 && now.Sub(row.LastSeen) < lastSeenStep && !now.Before(row.LastSeen) {
		return row
	}
	visit := row
	visit.LastSeen = now
	if row.ID == 0 {
		visit.FirstSeen = now
	} else {
		visit.State = admission.Waiting // stores the time alone: the owner may have decided since row was read
	}
	saved, err := h.deps.Extensions.SaveExtension(ctx, visit)
	if err != nil {
		h.deps.Log.Error("an extension's visit could not be stored", "error", err)
		return row
	}
	h.changes.Notify()
	return saved
}

func (h *Host) storeFailed(ctx context.Context, doing string, err error) admission.Verdict {
	if ctx.Err() == nil {
		h.deps.Log.Error("admission failed", "doing", doing, "error", err)
	}
	return admission.Refuse(admission.StoreFailed)
}

// Attach registers the link of an admitted peer, so that a removal can end it.
// ok is false when the peer was removed, or the token rotated, since its
// verdict; the caller then closes the link. detach must be called once it ends.
func (h *Host) Attach(ctx context.Context, v admission.Verdict, link ports.NerveLink) (detach func(), ok bool) {
	h.door.mu.Lock()
	h.door.live[link] = v.Peer
	stale := h.door.round != v.Round
	h.door.mu.Unlock()
	detach = func() {
		h.door.mu.Lock()
		defer h.door.mu.Unlock()
		delete(h.door.live, link)
		h.changes.Notify()
	}
	if stale && !h.stillAdmitted(ctx, v) {
		detach()
		return nil, false
	}
	h.changes.Notify()
	return detach, true
}

// stillAdmitted repeats the part of Admit that a removal or rotation can change.
func (h *Host) stillAdmitted(ctx context.Context, v admission.Verdict) bool {
	token, _ := h.door.state()
	switch v.Peer.Basis {
	case admission.AsTool, admission.AsTokenHolder:
		if _, ok := findToken(admission.ParseOffers([]string{v.Entry}), token); !ok {
			return false
		}
	case admission.AsListed, admission.AsLocalUser:
		return true
	}
	if v.Peer.RowID == 0 {
		return true
	}
	rows, err := h.deps.Extensions.Extensions(ctx)
	if err != nil {
		h.storeFailed(ctx, "check extension again", err)
		return false
	}
	for _, row := range rows {
		if row.ID == v.Peer.RowID {
			return row.State == admission.Allowed || row.State == admission.ByToken
		}
	}
	return false
}

// OriginAllowed reports whether some key of the origin, or the origin itself,
// is allowed. It is what the listener tells an extension that asks (decision D7a).
func (h *Host) OriginAllowed(ctx context.Context, origin string) bool {
	if slices.Contains(h.opts.AllowedOrigins, origin) {
		return true
	}
	rows, err := h.deps.Extensions.Extensions(ctx)
	if err != nil {
		h.storeFailed(ctx, "list extensions", err)
		return false
	}
	return slices.ContainsFunc(rows, func(e admission.Extension) bool {
		return e.Origin == origin && (e.State == admission.Allowed || e.State == admission.ByToken)
	})
}

// Extensions lists every row by ID.
func (h *Host) Extensions(ctx context.Context) ([]admission.Extension, error) {
	rows, err := h.deps.Extensions.Extensions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list extensions: %w", err)
	}
	return rows, nil
}

// AllowExtension lets a row in, durably, from its next knock on. Unknown is
// ports.ErrExtensionUnknown.
func (h *Host) AllowExtension(ctx context.Context, id int64) (admission.Extension, error) {
	state := admission.Allowed
	row, err := h.decide(ctx, id, func(e admission.Extension) admission.State {
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
func (h *Host) RemoveExtension(ctx context.Context, id int64) (admission.Extension, error) {
	row, err := h.decide(ctx, id, func(admission.Extension) admission.State { return admission.Blocked })
	if err != nil {
		return admission.Extension{}, fmt.Errorf("remove extension %d: %w", id, err)
	}
	h.endLinks(func() {}, func(p admission.Peer) bool { return p.RowID == id })
	return row, nil
}

// ForgetExtension deletes a row, durably, and then ends its live connections.
// Its next knock waits like any first one.
func (h *Host) ForgetExtension(ctx context.Context, id int64) error {
	if err := h.deps.Extensions.ForgetExtension(context.WithoutCancel(ctx), id); err != nil {
		return fmt.Errorf("forget extension %d: %w", id, err)
	}
	h.endLinks(func() {}, func(p admission.Peer) bool { return p.RowID == id })
	return nil
}

// RotateToken makes a new host token and ends every connection that came with
// the old one.
func (h *Host) RotateToken(context.Context) error {
	h.door.rotating.Lock()
	defer h.door.rotating.Unlock()
	hash, err := h.deps.Token.RotateToken()
	if err != nil {
		return fmt.Errorf("rotate the host token: %w", err)
	}
	h.endLinks(func() { h.door.token = hash }, func(p admission.Peer) bool {
		return p.Basis == admission.AsTool || p.Basis == admission.AsTokenHolder
	})
	return nil
}

func (h *Host) decide(ctx context.Context, id int64, next func(admission.Extension) admission.State) (admission.Extension, error) {
	rows, err := h.deps.Extensions.Extensions(ctx)
	if err != nil {
		return admission.Extension{}, err
	}
	i := slices.IndexFunc(rows, func(e admission.Extension) bool { return e.ID == id })
	if i < 0 {
		return admission.Extension{}, ports.ErrExtensionUnknown
	}
	row := rows[i]
	row.State = next(row)
	defer h.changes.Notify()
	// A store may report that ctx has ended after it has stored, and whoever has to
	// go would stay.
	return h.deps.Extensions.SaveExtension(context.WithoutCancel(ctx), row)
}

// endLinks makes a change to the door and closes the links that match, as they
// were at that moment. The store has changed before; whoever is between Admit
// and Attach sees the new round and asks again.
func (h *Host) endLinks(change func(), match func(admission.Peer) bool) {
	h.door.mu.Lock()
	h.door.round++
	change()
	var ended []ports.NerveLink
	for link, peer := range h.door.live {
		if match(peer) {
			ended = append(ended, link)
		}
	}
	h.door.mu.Unlock()
	h.changes.Notify()
	for _, link := range ended {
		link.Close(sessions.ExtensionRemoved)
	}
}

// LiveConnections counts the attached links.
func (h *Host) LiveConnections() int {
	h.door.mu.Lock()
	defer h.door.mu.Unlock()
	return len(h.door.live)
}
