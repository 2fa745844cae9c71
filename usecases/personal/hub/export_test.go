package hub

import (
	"context"
	"encoding/json"

	"plexus/domain/workbench"
	"plexus/ports"
)

// Receipt is a receipt to tests of the ledger.
type Receipt = receipt

// Fingerprint is that of a command.
func Fingerprint(method string, params json.RawMessage) string {
	_, fingerprint, _ := Command{Method: method}.read(params)
	return fingerprint
}

// Knows reports whether there is such a method.
func (h *Hub) Knows(method string) bool {
	_, known := h.methods[method]
	return known
}

// Read reads the parameters of a method.
func (h *Hub) Read(method string, raw json.RawMessage) (params any, err error) {
	c, known := h.methods[method]
	if !known {
		return nil, ErrNotAdmitted
	}
	asked, _, err := c.read(raw)
	if err != nil {
		return nil, err
	}
	return asked.params, nil
}

// ReceiptKey names a request of a method.
func (h *Hub) ReceiptKey(caller workbench.Caller, method, requestID string) string {
	return h.methods[method].receiptKey(caller, requestID)
}

// Conflict is the refusal of another payload.
func (h *Hub) Conflict(method string) workbench.Refusal { return h.methods[method].conflict() }

// Policy says whether clients have IDs of their own for a method, and whether it
// leaves receipts.
func (h *Hub) Policy(method string) (perClient, recorded bool) {
	c := h.methods[method]
	return c.PerClient, !c.Do.query
}

// Stored gives what the ledger keeps.
func (h *Hub) Stored(method string, r Result) (Result, bool) {
	c := h.methods[method]
	kept, keep := c.recorded(r)
	return kept, keep && !c.Do.query
}

// Parts are the members of a snapshot in their order, with some values given.
func (h *Hub) Parts(desktop bool, given map[string]Value) (parts []Part, err error) {
	err = h.Store.View(context.Background(), func(tx ports.PersonalView) error {
		for _, a := range h.areas {
			for _, m := range a.Members {
				section := m.Phone
				if desktop {
					section = m.Desktop
				}
				if section == nil {
					continue
				}
				value, ok := given[m.Name]
				if !ok {
					if value, err = section(tx, nil); err != nil {
						return err
					}
				}
				parts = append(parts, Part{m.Name, value})
			}
		}
		return nil
	})
	return parts, err
}
