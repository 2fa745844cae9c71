package admission

// Cause says why somebody was not let in. On the wire every refusal looks the
// same; the log, `plexus status` and the owner's page show the cause.
type Cause string

const (
	WrongHost   Cause = "wrong_host"   // the Host header does not name this listener
	Proxied     Cause = "proxied"      // it came through a proxy
	ForeignUser Cause = "foreign_user" // another user of this machine
	WebOrigin   Cause = "web_origin"   // a web page, or any other origin that can never pass
	NoToken     Cause = "no_token"     // a native tool without a right host token
	NoMaster    Cause = "no_master"    // a command without the right master token
	NoKey       Cause = "no_key"       // an extension that offers no key
	WrongOffer  Cause = "wrong_offer"  // a subprotocol that is no key of the right form
	KeyWaiting  Cause = "key_waiting"  // an extension that the owner has not decided on
	KeyBlocked  Cause = "key_blocked"  // an extension that the owner has removed
	StoreFailed Cause = "store_failed" // we could not look it up
	TooMany     Cause = "too_many"     // every connection is taken
	PhoneBusy   Cause = "phone_busy"   // a phone while another one is connected
)

// Causes lists every cause, for tables and their tests.
func Causes() []Cause {
	return []Cause{WrongHost, Proxied, ForeignUser, WebOrigin, NoToken, NoMaster, NoKey, WrongOffer, KeyWaiting, KeyBlocked, StoreFailed, TooMany, PhoneBusy}
}

// Advice is one plain sentence for the owner: what happened and what to do.
func (c Cause) Advice() string {
	switch c {
	case WrongHost:
		return "Somebody used a name for this machine that is not accepted, as a rebinding web page does; if it was a phone, set public_url to that name or pair the phone with it."
	case Proxied:
		return "The request came through a proxy, as only phones may; let the proxy lead to the client listener, and point programs on this machine at 127.0.0.1."
	case ForeignUser:
		return "A program of another user of this machine tried to connect; run it as yourself if it is yours."
	case WebOrigin:
		return "A web page tried to connect; web pages are never let in."
	case NoToken:
		return "A program tried to connect without the right host token; `plexus token path` says where the token is."
	case NoMaster:
		return "A program asked what only the owner's commands may, without the right master token; a command that you gave needs the data directory of this host."
	case NoKey:
		return "An extension offered no key; if you trust it, add its origin to allowed_origins in the configuration."
	case WrongOffer:
		return "The subprotocol that was offered is no key of the right form; it must read anvesha-v1. and 64 lower-case hex digits."
	case KeyWaiting:
		return "An extension is waiting for you: compare its four digits, then run `plexus extensions allow`."
	case KeyBlocked:
		return "You have removed this extension; `plexus extensions allow` lets it in again."
	case StoreFailed:
		return "The list of extensions could not be read; see the log, and check the disk."
	case TooMany:
		return "Every connection is taken; close programs that keep many open."
	case PhoneBusy:
		return "Another phone is connected, and one can be at a time; close the app there, or run `plexus devices let-in` for this one."
	}
	return ""
}
