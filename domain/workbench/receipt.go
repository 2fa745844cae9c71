package workbench

import "encoding/json"

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
