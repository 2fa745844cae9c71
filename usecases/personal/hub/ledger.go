package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"plexus/domain/jsonscan"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal/stored"
)

// MaxReceipts bounds the durable ledger; the oldest insertion goes first
// (nova-personal §2).
const MaxReceipts = 256

// receiptKind is the kind of the ledger's records.
const receiptKind = "receipt"

// receipt is what the ledger keeps of a command: what was asked, as a
// fingerprint, and what a repetition is answered.
type receipt struct {
	Fingerprint string `json:"payload"` // SHA-256 of method and params, canonical, lower-case hex
	Result      Result `json:"result"`
}

// Result is the outcome of a command: refused when Error is not "".
type Result struct {
	Error          workbench.Refusal `json:"error,omitempty"`
	Data           json.RawMessage   `json:"data,omitempty"`
	ReloadRequired bool              `json:"reload_required,omitempty"`
	InputStatus    string            `json:"input_status,omitempty"`
	InputTaskID    string            `json:"input_task_id,omitempty"`
}

// recall finds what became of the same request before. The same ID with another
// payload is a conflict.
func (c Command) recall(ctx context.Context, store ports.PersonalStore, req Request) (known bool, result Result, err error) {
	err = store.View(ctx, func(tx ports.PersonalView) error {
		r, ok, err := stored.Load[receipt](tx, receiptKind, req.Key)
		if err != nil || !ok {
			return err
		}
		known, result = true, r.Result
		if r.Fingerprint != req.Fingerprint {
			result = Result{Error: c.conflict()}
		}
		return nil
	})
	return known, result, err
}

// receiptKey names a request in the ledger: by its ID alone, or by client and ID
// where every client has IDs of its own.
func (c Command) receiptKey(caller workbench.Caller, requestID string) string {
	if !c.PerClient {
		return requestID
	}
	text := jsonscan.AppendString([]byte(`{"client":`), caller.ClientID)
	text = jsonscan.AppendString(append(text, `,"request":`...), requestID)
	return sum(append(text, '}'))
}

// conflict is the refusal of a request ID that is known with other parameters.
func (c Command) conflict() workbench.Refusal {
	if c.PerClient {
		return workbench.RequestConflict
	}
	return workbench.RequestIDConflict
}

// recorded gives what the ledger keeps of a result. keep is false for what may be
// tried again under the same ID (nova-personal §2.2): nothing was done.
func (c Command) recorded(r Result) (kept Result, keep bool) {
	switch r.Error {
	case "":
	case workbench.Unavailable, workbench.Unauthenticated, workbench.RequestIDConflict, workbench.RequestConflict, workbench.StoreFailed:
		return Result{}, false
	default:
		return r, !c.RetriesRefusals
	}
	if len(r.Data) > 0 && !c.PerClient && !c.KeepsData {
		r.Data, r.ReloadRequired = nil, true
	}
	return r, true
}

// sum is the SHA-256 of text in lower-case hex.
func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

var errNoReceipt = errors.New("not a receipt")

// UnmarshalJSON reads what json.Marshal wrote of a receipt. An error means that
// it is damaged.
func (r *receipt) UnmarshalJSON(body []byte) error {
	if err := jsonform.Read(body).Err(); err != nil {
		return fmt.Errorf("read receipt: %w", err)
	}
	type bare receipt // without this method
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if d.Decode((*bare)(r)) != nil {
		return fmt.Errorf("read receipt: %w", errNoReceipt)
	}
	if hash, err := hex.DecodeString(r.Fingerprint); err != nil || len(hash) != sha256.Size || strings.ToLower(r.Fingerprint) != r.Fingerprint {
		return fmt.Errorf("read receipt: %w", errNoReceipt)
	}
	return nil
}
