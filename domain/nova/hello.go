package nova

import (
	"fmt"
	"slices"

	"plexus/domain/nova/jsonform"
)

// Language is the language of the host's own sentences on one connection.
type Language string

// The two languages of the wire. "" is no choice: the host's default.
const (
	Chinese Language = "zh-CN"
	English Language = "en"
)

// Hello is a client's first message.
type Hello struct {
	Token    Secret     // 32 lower-case hex digits
	Language Language   // "" when the client named none
	Media    []string   // the transports on offer; nil when the client made no offer
	Personal bool       // the client asks for the personal extension
	Fault    HelloFault // what to refuse it for, once the token has been found good
}

// HelloFault is why a hello is refused although its token is good. Each closes with
// 4006.
type HelloFault uint8

// The faults, in the order in which they are looked for.
const (
	HelloFine     HelloFault = iota
	HelloVersion             // protocol_version is not 1
	HelloMedia               // the offer is malformed or lacks host_pcm_v1
	HelloLanguage            // language is neither zh-CN nor en
)

// RelayTransport is the one media transport of this host.
const RelayTransport = "host_pcm_v1"

// DecodeHello reads a client's first message. An error means that it is no hello
// with a well-formed token: close 4003. Any other fault is in Hello.Fault and
// counts only after the token has been found good.
func DecodeHello(text []byte) (Hello, error) {
	var h Hello
	if len(text) > MaxText {
		return h, fmt.Errorf("nova: read hello: %w", ErrTooLong)
	}
	f := jsonform.Read(text)
	f.Kind("hello")
	formSecret(f, "token", jsonform.Required, &h.Token, hex128)
	if err := f.Err(); err != nil {
		return Hello{}, fmt.Errorf("nova: read hello: %w", err)
	}
	// Other values in the capabilities, or in place of the list, are no fault.
	h.Personal = slices.Contains(jsonform.Strings(f, "capabilities"), "personal")
	h.Fault = h.readTerms(f)
	return h, nil
}

// readTerms reads what is judged after the token, up to the first fault.
func (h *Hello) readTerms(f *jsonform.Form) HelloFault {
	fault := HelloFine
	if formVersion(f); f.Err() != nil {
		fault = HelloVersion
	} else if h.formMedia(f); f.Err() != nil {
		fault = HelloMedia
	} else if h.formLanguage(f); f.Err() != nil {
		fault = HelloLanguage
	}
	if fault != HelloFine {
		h.Media, h.Language = nil, ""
	}
	return fault
}

func formVersion(f *jsonform.Form) {
	version := uint64(ProtocolVersion)
	f.Uint("protocol_version", &version, ProtocolVersion, ProtocolVersion)
}

// formMedia is the offer: nothing but a list of names, of which one must be ours.
func (h *Hello) formMedia(f *jsonform.Form) {
	media := Optional[[]string]{Value: h.Media, Set: h.Media != nil}
	jsonform.OptionalObject(f, "media", jsonform.Omitted, &media, func(f *jsonform.Form, names *[]string) {
		f.Strict()
		jsonform.Texts(f, "transports", jsonform.Required, names, 1, 8, jsonform.Units(1, 64))
		f.Want("transports", slices.Contains(*names, RelayTransport))
	})
	h.Media = media.Value
}

func (h *Hello) formLanguage(f *jsonform.Form) {
	jsonform.Choice(f, "language", jsonform.Omitted, &h.Language, Chinese, English)
}

// form writes a hello; DecodeHello reads one in parts.
func (h *Hello) form(f *jsonform.Form) {
	formSecret(f, "token", jsonform.Required, &h.Token, hex128)
	formVersion(f)
	h.formMedia(f)
	h.formLanguage(f)
	if h.Personal {
		capabilities := []string{"personal"}
		jsonform.Texts(f, "capabilities", jsonform.Required, &capabilities, 1, 1, jsonform.Anything)
	}
}

// AppendHello appends a hello: what a client sends first.
func AppendHello(dst []byte, h Hello) ([]byte, error) {
	return appendObject(dst, "hello", MaxText, &h)
}

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
	TextInput                     // a model, no recognizer
	TextAndDictation              // a model and a recognizer
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

func (Ready) Type() string               { return "client.ready" }
func (DesktopCapabilities) Type() string { return "desktop.capabilities" }

func (m Ready) message() schema               { return &m }
func (m DesktopCapabilities) message() schema { return &m }

func (m *Ready) form(f *jsonform.Form) {
	formVersion(f)
	f.Text("server_instance_id", jsonform.Required, &m.ServerInstanceID, uuid)
	f.Text("connection_id", jsonform.Required, &m.ConnectionID, uuid)
	media := Optional[Pipeline]{Value: m.Pipeline, Set: m.Pipeline != ""}
	jsonform.OptionalObject(f, "media", jsonform.Omitted, &media, func(f *jsonform.Form, p *Pipeline) {
		formConstant(f, "transport", RelayTransport) // the one media path there is
		formConstant(f, "path", "relay")
		formConstant(f, "audio_owner", "client")
		jsonform.Choice(f, "pipeline", jsonform.Required, p, Integrated, Cascaded)
	})
	m.Pipeline = media.Value
	formPCM(f, "input_audio", UplinkRate)
	formPCM(f, "output_audio", DownlinkRate)
	m.formCapabilities(f)
}

func formPCM(f *jsonform.Form, name string, rate uint64) {
	f.Object(name, func(f *jsonform.Form) {
		formConstant(f, "encoding", "pcm_s16le")
		f.Uint("sample_rate", &rate, rate, rate)
		channels := uint64(1)
		f.Uint("channels", &channels, 1, 1)
	})
}

// formConstant is a string that can be no other.
func formConstant(f *jsonform.Form, name, value string) {
	jsonform.Choice(f, name, jsonform.Required, &value, value)
}

func (m *Ready) formCapabilities(f *jsonform.Form) {
	list := []string{"audio", "captions", "projects", "executor"}
	always := len(list)
	if m.Personal {
		list = append(list, "personal")
	}
	list = appendInput(list, m.TextInput, m.Dictation)
	if !f.Reading() {
		cascaded := m.Pipeline == Cascaded
		f.Want("capabilities", m.TextInput == cascaded && m.Dictation == cascaded)
		jsonform.Texts(f, "capabilities", jsonform.Required, &list, always, len(list), jsonform.Anything)
		return
	}
	var offered []string
	jsonform.Texts(f, "capabilities", jsonform.Required, &offered, always, MaxText, jsonform.Anything)
	for _, name := range list {
		f.Want("capabilities", slices.Contains(offered, name))
	}
	m.Personal = slices.Contains(offered, "personal")
	m.TextInput, m.Dictation = slices.Contains(offered, "text_input"), slices.Contains(offered, "dictation")
}

func appendInput(list []string, textInput, dictation bool) []string {
	if textInput {
		list = append(list, "text_input")
	}
	if dictation {
		list = append(list, "dictation")
	}
	return list
}

func (m *DesktopCapabilities) form(f *jsonform.Form) {
	list := appendInput(nil, m.TextInput, m.Dictation)
	jsonform.Texts(f, "capabilities", jsonform.Required, &list, 0, MaxText, jsonform.Anything)
	m.TextInput, m.Dictation = slices.Contains(list, "text_input"), slices.Contains(list, "dictation")
	f.Text("input_instance_id", jsonform.Required, &m.InputInstanceID, id128u)
}
