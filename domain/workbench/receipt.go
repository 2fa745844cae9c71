package workbench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plexus/domain/jsonscan"
	"plexus/domain/nova/jsonform"
)

// Bounds of the durable ledger (nova-personal §2).
const (
	MaxReceipts     = 256 // the oldest insertion goes first
	MaxHandbacks    = 256 // identities of presentation.set
	MaxLifeReceipts = 256
	MaxWaiting      = 8 // commands that wait for their turn
)

// Receipt is what the ledger keeps of a command: what was asked, as a
// fingerprint, and what a repetition is answered.
type Receipt struct {
	Fingerprint string `json:"payload"` // SHA-256 of method and params, canonical, lower-case hex
	Result      Result `json:"result"`
}

// Result is the outcome of a command: refused when Error is not "".
type Result struct {
	Error          Refusal         `json:"error,omitempty"`
	Data           json.RawMessage `json:"data,omitempty"`
	ReloadRequired bool            `json:"reload_required,omitempty"`
	InputStatus    string          `json:"input_status,omitempty"`
	InputTaskID    string          `json:"input_task_id,omitempty"`
}

// Fingerprint identifies what a command asks: equal for two commands that mean
// the same, whatever the order of their members and the spelling of their
// numbers. Empty params stand for {}. Params that have no canonical form, which
// no command has that came through nova.DecodeControl, count as they are written.
func Fingerprint(method string, params json.RawMessage) string {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if canonical, err := jsonform.Canonical(params); err == nil {
		params = canonical
	}
	text := append(jsonscan.AppendString([]byte{'['}, method), ',')
	return sum(append(append(text, params...), ']'))
}

// ReceiptKey names a command in the ledger: by its request alone, or by client
// and request where the method is a client's own.
func ReceiptKey(caller Caller, method, requestID string) string {
	if !ClientScoped(method) {
		return requestID
	}
	text := jsonscan.AppendString([]byte(`{"client":`), caller.ClientID)
	text = jsonscan.AppendString(append(text, `,"request":`...), requestID)
	return sum(append(text, '}'))
}

// sum is the SHA-256 of text in lower-case hex.
func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// ClientScoped reports whether every client has request ids of its own for a
// method.
func ClientScoped(method string) bool { return method == "presentation.set" || NeedsIdentity(method) }

// NeedsIdentity reports whether a method is Unauthenticated without a client.
func NeedsIdentity(method string) bool {
	return strings.HasPrefix(method, "tasks.") || method == "conversations.approve" || method == "conversations.confirm"
}

// Recorded reports whether the ledger is asked about a method at all.
func Recorded(method string) bool { return method != "tasks.list" && method != "tasks.get" }

// Conflict is the refusal of a request id that is known with other params.
func Conflict(method string) Refusal {
	if ClientScoped(method) {
		return RequestConflict
	}
	return RequestIDConflict
}

// Stored gives what the ledger keeps of a result, without the data of ordinary
// methods: no body may be in the ledger. keep is false for what may be tried
// again under the same id (nova-personal §2.2): nothing was done.
func Stored(method string, r Result) (stored Result, keep bool) {
	switch r.Error {
	case "":
	case Unavailable, Unauthenticated, RequestIDConflict, RequestConflict, StoreFailed:
		return Result{}, false
	default:
		return r, Recorded(method) && method != "presentation.set"
	}
	if len(r.Data) > 0 && !ClientScoped(method) && method != "memory.purge" {
		r.Data, r.ReloadRequired = nil, true
	}
	return r, Recorded(method)
}

var errNoReceipt = errors.New("not a receipt")

// UnmarshalJSON reads what json.Marshal wrote of a receipt. An error means that
// it is damaged.
func (r *Receipt) UnmarshalJSON(body []byte) error {
	if err := jsonform.Read(body).Err(); err != nil {
		return fmt.Errorf("workbench: read receipt: %w", err)
	}
	type bare Receipt // without this method
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if d.Decode((*bare)(r)) != nil || !isSum(r.Fingerprint) {
		return fmt.Errorf("workbench: read receipt: %w", errNoReceipt)
	}
	return nil
}

// isSum reports whether s is what sum gives.
func isSum(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil && len(s) == 2*sha256.Size && strings.ToLower(s) == s
}
