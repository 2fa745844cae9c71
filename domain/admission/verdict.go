package admission

// HandshakeRequest is what one upgrade request says about its sender.
type HandshakeRequest struct {
	Origins   []string // every Origin header line
	Protocols []string // every Sec-WebSocket-Protocol header line
}

// Basis says what a peer was admitted on.
type Basis string

const (
	AsTool        Basis = "tool"   // no Origin, right host token
	AsExtension   Basis = "key"    // extension origin, allowed key
	AsTokenHolder Basis = "token"  // extension origin, right host token
	AsListed      Basis = "listed" // origin in allowed_origins, no key
	AsLocalUser   Basis = "socket" // the Unix socket of the owner
)

// Peer is an admitted sender.
type Peer struct {
	Origin string // "" for the owner's own tools
	Basis  Basis
	RowID  int64 // its Extension row, or 0
}

// Verdict answers a HandshakeRequest.
type Verdict struct {
	Admitted bool
	Entry    string // subprotocol to echo, or ""
	Peer     Peer   // when admitted
	Cause    Cause  // when refused
	Round    uint64 // removals seen so far; browsers.Registry.Attach uses it to notice a later one
}

// Refuse builds a refusal.
func Refuse(c Cause) Verdict { return Verdict{Cause: c} }
