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

// HelloFault is why a hello with a good token is refused all the same. Each
// closes with 4006.
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

// DecodeHello reads a client's first message. An error means that it is no
// hello with a well-formed token: close 4003. What else is wrong with it stands
// in Hello.Fault and counts only after the token has been found good.
func DecodeHello(text []byte) (Hello, error) {
	var h Hello
	if len(text) > MaxText {
		return h, fmt.Errorf("nova: read hello: %w", ErrTooLong)
	}
	f := jsonform.Read(text)
	f.Kind("hello")
	formSecret(f, "token", jsonform.Required, &h.Token, key128)
	if err := f.Err(); err != nil {
		return Hello{}, fmt.Errorf("nova: read hello: %w", err)
	}
	h.Personal = offersPersonal(text)
	h.Fault = h.terms(text)
	return h, nil
}

// terms reads what is judged after the token. Each reading starts afresh: one
// fault must not hide the order of the others.
func (h *Hello) terms(text []byte) HelloFault {
	for _, term := range []struct {
		form  func(*jsonform.Form)
		fault HelloFault
	}{
		{formVersion, HelloVersion},
		{h.formMedia, HelloMedia},
		{h.formLanguage, HelloLanguage},
	} {
		f := jsonform.Read(text)
		term.form(f)
		if f.Err() != nil {
			h.Media, h.Language = nil, ""
			return term.fault
		}
	}
	return HelloFine
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

// offersPersonal looks for "personal" among the capabilities. Whatever else
// stands there, or in their place, is no fault.
func offersPersonal(text []byte) bool {
	return slices.Contains(jsonform.Read(text).Strings("capabilities"), "personal")
}

// form writes a hello; DecodeHello reads one in parts.
func (h *Hello) form(f *jsonform.Form) {
	f.Kind("hello")
	formSecret(f, "token", jsonform.Required, &h.Token, key128)
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
	return seal(dst, "hello", MaxText, jsonform.Write(dst), &h)
}
