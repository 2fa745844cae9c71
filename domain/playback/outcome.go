package playback

// Outcome is what became of a generation.
type Outcome uint8

const (
	Spoken      Outcome = iota + 1 // played to its end
	Interrupted                    // cut off after something of it was heard
	Suppressed                     // cut off, nothing of it was heard
)

// Remembered reports whether the text of the generation becomes part of the
// conversation. Text that was not heard is left out.
func (o Outcome) Remembered() bool { return o == Spoken || o == Interrupted }

// String is the word that the log shows.
func (o Outcome) String() string {
	switch o {
	case Spoken:
		return "spoken"
	case Interrupted:
		return "interrupted"
	case Suppressed:
		return "suppressed"
	}
	return "unknown"
}

// Ending is the end of a generation. Each generation has exactly one.
type Ending struct {
	Generation Generation
	Outcome    Outcome
	PlayedMS   uint64 // as the client said, milliseconds; 0 when it did not
}

// MaxTombstones is how many ended generations are remembered.
const MaxTombstones = 256
