package sessions

import (
	"strings"

	"plexus/domain/nova"
)

// MaxCommands is how many distinct commands one connection may send; after the
// receipt of the last one it is closed, so that the client begins a new ledger
// (Nova client protocol, §9.3).
const MaxCommands = 256

// ledger remembers what became of each command of one connection. Nothing is
// ever evicted. The zero value is empty.
type ledger struct{ entries map[string]ledgerEntry }

type ledgerEntry struct {
	fingerprint nova.Fingerprint
	status      nova.Status
}

// begin enters a command, as rejected until it is applied. known: it must not be
// delivered, and status is its receipt: the recorded one for a repetition,
// rejected for another payload under the same ID or a full ledger.
func (l *ledger) begin(id string, f nova.Fingerprint) (status nova.Status, known bool) {
	if e, ok := l.entries[id]; ok {
		if e.fingerprint == f {
			return e.status, true
		}
		return nova.Rejected, true
	}
	if l.full() {
		return nova.Rejected, true
	}
	if l.entries == nil {
		l.entries = make(map[string]ledgerEntry)
	}
	l.entries[strings.Clone(id)] = ledgerEntry{f, nova.Rejected} // id is a part of a whole message
	return "", false
}

// apply records that a command was delivered, and gives its receipt.
func (l *ledger) apply(id string) nova.Status {
	e := l.entries[id]
	e.status = nova.Applied
	l.entries[id] = e
	return e.status
}

func (l *ledger) full() bool { return len(l.entries) >= MaxCommands }
