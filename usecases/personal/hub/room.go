package hub

import (
	"context"
	"time"

	"plexus/ports"
)

// Unstored is what could not be stored for want of room on the disk, since the last
// change that was. Count 0: there is room.
type Unstored struct {
	Count int
	Last  time.Time
}

// Unstored looks again whether there is room before it says that there is none.
func (h *Hub) Unstored(ctx context.Context) Unstored {
	h.mu.Lock()
	full := h.noRoom.Count > 0
	h.mu.Unlock()
	if full && h.update(ctx, func(ports.PersonalTx) error { return nil }) == nil {
		h.noteRoom(nil)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.noRoom
}

// noteRoom learns from how a change has ended.
func (h *Hub) noteRoom(err error) {
	h.mu.Lock()
	before := h.noRoom.Count
	switch {
	case err == nil:
		h.noRoom = Unstored{}
	case h.NoRoom != nil && h.NoRoom(err):
		h.noRoom = Unstored{Count: before + 1, Last: h.Now()}
	}
	after := h.noRoom.Count
	h.mu.Unlock()
	if before == after {
		return
	}
	if after == 0 {
		h.Log.Info("there is room on the disk again")
	}
	h.NotifyPage()
}
