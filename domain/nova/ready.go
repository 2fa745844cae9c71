package nova

// Pipeline says how a host makes speech: in one model or in a chain. "" is
// none, and client.ready then has no media.
type Pipeline string

// The pipelines of the wire.
const (
	Integrated Pipeline = "integrated"
	Cascaded   Pipeline = "cascaded"
)

// Input is what the host can do with what a person types or dictates. Both
// capability lists and the pipeline are derived from it, so that they cannot
// disagree.
type Input uint8

// The kinds of input.
const (
	NoInput          Input = iota // there is no model
	TextInput                     // a model, no recogniser
	TextAndDictation              // a model and a recogniser
)

// Pipeline is cascaded for TextAndDictation, else "".
func (i Input) Pipeline() Pipeline {
	if i == TextAndDictation {
		return Cascaded
	}
	return ""
}

// Ready is client.ready, the host's first message on a connection.
type Ready struct {
	ServerInstanceID string // UUID, one per process
	ConnectionID     string // UUID, one per connection; echoed byte for byte
	Pipeline         Pipeline
	Personal         bool // the personal extension was granted
	TextInput        bool
	Dictation        bool
}

// NewReady is the answer to a good hello.
func NewReady(serverInstanceID, connectionID string, in Input, personal bool) Ready {
	both := in == TextAndDictation
	return Ready{serverInstanceID, connectionID, in.Pipeline(), personal, both, both}
}

// DesktopCapabilities is desktop.capabilities: what input the host takes.
type DesktopCapabilities struct {
	TextInput       bool
	Dictation       bool
	InputInstanceID string // UUID, one per process; neither the server's nor the connection's
}

// NewDesktopCapabilities gives the message for in; false when there is nothing
// to announce.
func NewDesktopCapabilities(in Input, inputInstanceID string) (DesktopCapabilities, bool) {
	return DesktopCapabilities{in != NoInput, in == TextAndDictation, inputInstanceID}, in != NoInput
}
