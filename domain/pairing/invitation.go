// Package pairing holds the rules by which a device gets its token: the one
// invitation, its code and QR payload, the devices, the limits. Pure.
package pairing

import (
	"slices"
	"time"
)

// InvitationID names an invitation without giving it away: the beginning of its
// code's hash, in 16 hex digits. It may stand in a URL.
type InvitationID string

// ID gives the name of the invitation that this code belongs to.
func (c Code) ID() InvitationID { return InvitationID(c.Hash().Hex()[:16]) }

// Invitation is the offer to pair one device.
type Invitation struct {
	Code      Code
	Server    Server
	CreatedAt time.Time
}

// ID names the invitation.
func (i Invitation) ID() InvitationID { return i.Code.ID() }

// State is what has become of an invitation.
type State string

const (
	Waiting  State = "waiting"   // it is the open one
	Redeemed State = "redeemed"  // a device has it
	Replaced State = "replaced"  // a newer one was created
	Canceled State = "cancelled" // by the owner
	Gone     State = "gone"      // not of this process, or too long ago
)

// Outcome is the state of one invitation. Device is set when it is Redeemed.
type Outcome struct {
	ID     InvitationID
	State  State
	Device Device
}

// keptOutcomes bounds the memory of ended invitations.
const keptOutcomes = 32

// Invitations is the invitation that is open, if one is, and what became of the
// last ones. The zero value has none. Not safe for concurrent use.
type Invitations struct {
	open  Invitation // its Code is empty when none is open
	ended []Outcome  // oldest first
}

// Create opens an invitation. A still open one ends as Replaced.
func (v *Invitations) Create(i Invitation) (replaced bool) {
	replaced = v.end(Outcome{State: Replaced})
	v.open = i
	return replaced
}

// Open gives the open invitation.
func (v *Invitations) Open() (i Invitation, ok bool) { return v.open, !v.open.Code.Empty() }

// Matches compares the code with the open invitation's, hash against hash, in
// constant time.
func (v *Invitations) Matches(c Code) bool {
	same := v.open.Code.Hash().Equal(c.Hash())
	return same && !v.open.Code.Empty()
}

// Consume ends the open invitation as Redeemed by the device.
func (v *Invitations) Consume(d Device) { v.end(Outcome{State: Redeemed, Device: d}) }

// Cancel ends the open invitation if it is the one named.
func (v *Invitations) Cancel(id InvitationID) bool {
	if i, ok := v.Open(); !ok || i.ID() != id {
		return false
	}
	return v.end(Outcome{State: Canceled})
}

// Outcome says what became of an invitation; one that it does not know is Gone.
func (v *Invitations) Outcome(id InvitationID) Outcome {
	if i, ok := v.Open(); ok && i.ID() == id {
		return Outcome{ID: id, State: Waiting}
	}
	if n := slices.IndexFunc(v.ended, func(o Outcome) bool { return o.ID == id }); n >= 0 {
		return v.ended[n]
	}
	return Outcome{ID: id, State: Gone}
}

func (v *Invitations) end(o Outcome) bool {
	i, ok := v.Open()
	if !ok {
		return false
	}
	o.ID = i.ID()
	if len(v.ended) == keptOutcomes {
		v.ended = slices.Delete(v.ended, 0, 1)
	}
	v.ended = append(v.ended, o)
	v.open = Invitation{}
	return true
}
