package browsers

import (
	"context"
	"errors"
	"slices"
	"time"

	"plexus/domain/admission"
	"plexus/ports"
)

// lastSeenStep is how stale a row's last-seen time may be: a reconnecting
// extension must not cost a durable write each time.
const lastSeenStep = time.Minute

// maxOffers bounds the keys that one request may make us look up.
const maxOffers = 4

// Admit decides on one handshake of the NERVE WebSocket (decision D6). An unknown
// key of an extension becomes a waiting row; nothing else is stored for a refusal.
func (r *Registry) Admit(ctx context.Context, k admission.HandshakeRequest) admission.Verdict {
	token, round := r.inForce()
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
		v = r.admitByToken(ctx, origin, entry)
	case len(offers) == 0 && slices.Contains(r.opts.AllowedOrigins, origin):
		v = admission.Verdict{Admitted: true, Peer: admission.Peer{Origin: origin, Basis: admission.AsListed}}
	case len(offers) == 0:
		v = admission.Refuse(admission.NoKey)
	default:
		v = r.admitByKey(ctx, origin, offers)
	}
	v.Round = round
	if !v.Admitted && ctx.Err() == nil { // a peer that hung up was not refused
		r.Refuse(v.Cause, origin)
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

// IsToken reports whether a key is the host token. Nothing is noted of it: an extension
// asks so before it offers what its owner typed, since a wrong token would become a
// waiting row.
func (r *Registry) IsToken(key admission.KeyHash) bool {
	token, _ := r.inForce()
	return key.Equal(token)
}

func (r *Registry) admitByToken(ctx context.Context, origin, entry string) admission.Verdict {
	row, err := r.deps.Extensions.FindExtension(ctx, origin, admission.KeyHash{})
	switch {
	case errors.Is(err, ports.ErrExtensionUnknown):
		row = admission.Extension{Origin: origin, State: admission.ByToken}
	case err != nil:
		return r.storeFailed(ctx, "find extension by token", err)
	case row.State == admission.Blocked:
		return admission.Refuse(admission.KeyBlocked)
	}
	row = r.recordVisit(ctx, row)
	return admission.Verdict{Admitted: true, Entry: entry, Peer: admission.Peer{Origin: origin, Basis: admission.AsTokenHolder, RowID: row.ID}}
}

func (r *Registry) admitByKey(ctx context.Context, origin string, offers []admission.Offer) admission.Verdict {
	refusal := admission.Refuse(admission.WrongOffer)
	looked := 0
	for _, o := range offers {
		if !o.IsKey {
			continue
		}
		if looked++; looked > maxOffers {
			break
		}
		row, err := r.deps.Extensions.FindExtension(ctx, origin, o.Key)
		switch {
		case errors.Is(err, ports.ErrExtensionUnknown):
			row = admission.Extension{Origin: origin, Key: o.Key, State: admission.Waiting}
		case err != nil:
			return r.storeFailed(ctx, "find extension", err)
		}
		switch row.State {
		case admission.Allowed:
			row = r.recordVisit(ctx, row)
			return admission.Verdict{Admitted: true, Entry: o.Entry, Peer: admission.Peer{Origin: origin, Basis: admission.AsExtension, RowID: row.ID}}
		case admission.Blocked:
			refusal = admission.Refuse(admission.KeyBlocked)
		default:
			r.recordVisit(ctx, row)
			refusal = admission.Refuse(admission.KeyWaiting)
		}
	}
	return refusal
}

// recordVisit stores a new row, or an old one whose last-seen time has grown
// stale. A failure is logged and does not change the verdict, which is known.
func (r *Registry) recordVisit(ctx context.Context, row admission.Extension) admission.Extension {
	now := r.deps.Now()
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
	saved, err := r.deps.Extensions.SaveExtension(ctx, visit)
	if err != nil {
		r.deps.Log.Error("an extension's visit could not be stored", "error", err)
		return row
	}
	r.changes.Notify()
	return saved
}

func (r *Registry) storeFailed(ctx context.Context, op string, err error) admission.Verdict {
	if ctx.Err() == nil {
		r.deps.Log.Error("admission failed", "doing", op, "error", err)
	}
	return admission.Refuse(admission.StoreFailed)
}
