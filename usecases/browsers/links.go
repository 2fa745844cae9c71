package browsers

import (
	"context"

	"plexus/domain/admission"
	"plexus/domain/sessions"
	"plexus/ports"
)

// Attach registers the link of an admitted peer, so that a removal can end it.
// ok is false when the peer was removed, or the token rotated, since its
// verdict; the caller then closes the link. detach must be called once it ends.
func (r *Registry) Attach(ctx context.Context, v admission.Verdict, link ports.NerveLink) (detach func(), ok bool) {
	r.mu.Lock()
	r.live[link] = v.Peer
	stale := r.round != v.Round
	r.mu.Unlock()
	detach = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.live, link)
		r.changes.Notify()
	}
	if stale && !r.stillAdmitted(ctx, v) {
		detach()
		return nil, false
	}
	r.changes.Notify()
	return detach, true
}

// stillAdmitted repeats the part of Admit that a removal or rotation can change.
func (r *Registry) stillAdmitted(ctx context.Context, v admission.Verdict) bool {
	token, _ := r.inForce()
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
	rows, err := r.deps.Extensions.Extensions(ctx)
	if err != nil {
		r.storeFailed(ctx, "check extension again", err)
		return false
	}
	for _, row := range rows {
		if row.ID == v.Peer.RowID {
			return row.State == admission.Allowed || row.State == admission.ByToken
		}
	}
	return false
}

// endLinks runs change under the lock and closes the links that match, as they
// were at that moment. The store has changed before; a peer that is between Admit
// and Attach sees the new round, and its admission is checked again.
func (r *Registry) endLinks(change func(), match func(admission.Peer) bool) {
	r.mu.Lock()
	r.round++
	change()
	var ended []ports.NerveLink
	for link, peer := range r.live {
		if match(peer) {
			ended = append(ended, link)
		}
	}
	r.mu.Unlock()
	r.changes.Notify()
	for _, link := range ended {
		link.Close(sessions.ExtensionRemoved)
	}
}

// LiveConnections counts the attached links.
func (r *Registry) LiveConnections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.live)
}
