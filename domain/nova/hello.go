package nova

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
	HelloFine        HelloFault = iota
	HelloVersion                // protocol_version is not 1
	HelloMedia                  // the offer is malformed or lacks host_pcm_v1
	HelloLanguage               // language is neither zh-CN nor en
)

// RelayTransport is the one media transport of this host.
const RelayTransport = "host_pcm_v1"
