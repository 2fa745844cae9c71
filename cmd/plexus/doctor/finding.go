// Package doctor checks each step by which a phone reaches this host, from the name
// in its code to the client listener, and says what was found and what to do about
// it. It changes nothing.
package doctor

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Skipped Level = "skipped" // it could not be looked at; Detail says why
	Warning Level = "warning" // it works, and something about it is wrong
	Fault   Level = "fault"   // a phone will not get through, or something is broken
)

// Finding is the result of one step.
type Finding struct {
	Check  string `json:"check"` // short name of the step, such as "tls"
	Level  Level  `json:"level"`
	Detail string `json:"detail"`           // sentences
	Advice string `json:"advice,omitempty"` // what to do; of warnings and faults
}

func ok(check, detail string) Finding      { return Finding{check, OK, detail, ""} }
func skipped(check, detail string) Finding { return Finding{check, Skipped, detail, ""} }

func warning(check, detail, advice string) Finding { return Finding{check, Warning, detail, advice} }
func fault(check, detail, advice string) Finding   { return Finding{check, Fault, detail, advice} }
