package wsconn

import "testing"

// TestK3_WhatIsStillOnItsWayIsNoSilence: a state may lie in buffers that nobody
// here sees, and pings wait behind it. The more was sent, the longer the silence
// that is no end; without anything it is a minute.
func TestK3_WhatIsStillOnItsWayIsNoSilence(t *testing.T) {
	arrives := NewKeepAlive(t.Context(), nil, KeepAliveInterval, SlowestLink).arrives
	for _, tt := range []struct{ sent, looks int }{
		{0, 3}, {100, 3}, {320 << 10, 3}, {400 << 10, 4}, {900 << 10, 7},
	} {
		life := &silence{}
		looks := 0
		for life.tooLong(7, uint64(tt.sent), arrives); !life.tooLong(7, uint64(tt.sent), arrives); {
			looks++
		}
		looks++ // the first one heard a byte
		if looks != tt.looks {
			t.Errorf("after %d bytes a client is given up at look %d, want %d", tt.sent, looks, tt.looks)
		}
		if life.tooLong(8, 1_000_000, arrives) {
			t.Error("a byte is a sign of life")
		}
	}
}
