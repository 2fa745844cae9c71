// Package web renders the owner's page: templates, the values they need, one style
// sheet and one short script. It knows nothing of the host; adapters/adminweb
// turns what the host knows into these values. Every string that came from
// outside must have had text.Printable before it gets here; the templates escape
// for HTML.
package web

import "time"

// Place is a page of the navigation.
type Place string

// The places, in the order of the navigation. Their values are their paths below
// Layout.Base.
const (
	OverviewPlace   Place = ""
	PairPlace       Place = "pair"
	DevicesPlace    Place = "devices"
	ExtensionsPlace Place = "extensions"
	RefusedPlace    Place = "refused"
	SessionsPlace   Place = "sessions"
)

// Layout is what every page of a session has around its content.
type Layout struct {
	T        Words
	Base     string // the session's prefix, "/s/<32 hex>/"
	Here     Place
	Now      time.Time // moment of rendering; its location is the one times are shown in
	Notice   string    // one sentence about what the last action did, or ""
	Problem  string    // one sentence about what went wrong, or ""
	Waiting  int       // extensions that wait to be allowed
	Personal bool      // there is a personal host, with its places
	Reload   int       // without script the page is fetched again after this many seconds; 0: never
}

// SignIn is the page of somebody without a session.
type SignIn struct {
	T       Words
	Problem string // why the last try failed, or ""
	Left    bool   // the owner has just signed out
}

// Overview is what is configured and reachable, and who is connected.
type Overview struct {
	Version       string
	Started       time.Time
	DataDir       string
	DatabaseBytes int64 // with its write-ahead log
	Unstored      int   // texts and changes that a full disk has refused; 0 while there is room

	Search Service
	Model  Service
	Found  []FoundModel // models that run on this machine and are not in use

	PassedOver     []PassedModel // models of this machine that do not chat
	MorePassedOver int           // that are not listed

	Recognizer      Service // turns speech into text
	DictationConfig string  // lines of the configuration that switch dictation on; "" where it is on, or of no use

	Index   Index
	Address Address

	Extensions int    // live connections of extensions and tools
	Phone      string // name of the device that is connected now, or ""
	Paused     bool   // no phone for now
	Steps      Steps

	Answered, Canceled, Refused int64   // queries since the start
	FirstResult                 Latency // from a question to its results
	Answer                      Latency // from a question to the end of its answer

	Kept *Kept // nil without a personal host

	Waiting  []Extension
	Refusals []Refusal // the latest refused attempts, newest first
}

// Steps are what a new owner does first.
type Steps struct {
	Extension bool // an extension is allowed
	Phone     bool // a phone has connected with the token it was paired for
}

// Done reports that nothing is left to do.
func (s Steps) Done() bool { return s.Extension && s.Phone }

// Reach says what became of a try to reach a service.
type Reach string

// The values of Reach.
const (
	Off         Reach = "off"         // switched off
	BuiltIn     Reach = "builtin"     // part of the host
	Reachable   Reach = "reachable"   // it answers
	Unreachable Reach = "unreachable" // it does not; Service.Problem says why
	NotFound    Reach = "not_found"   // looked for, and none runs on this machine
)

// absent: there is no such service at all.
func (r Reach) absent() bool { return r == Off || r == BuiltIn || r == NotFound }

// Service is one thing that the host may call out to.
type Service struct {
	Kind        string // as in the configuration
	Name        string // of the model; else ""
	URL         string
	Reach       Reach
	Problem     string
	Failures    int64 // since the start
	LastFailure time.Time
	LastCause   string
	Fixed       string // what sets it above this page, such as "--search-url"; "" for nothing
}

// FoundModel is a model that runs on this machine and can be taken by one click.
type FoundModel struct {
	Name, BaseURL, Server string
}

// PassedModel is a model of this machine that does not chat, as its server has said.
type PassedModel struct {
	Name, Server, Cause string
}

// Index is the memory of pages.
type Index struct {
	Enabled bool
	Pages   int
	Bytes   int64
}

// Latency is measured over the last queries. Count 0: none yet.
type Latency struct {
	Count    int
	P50, P99 time.Duration
	Recent   []time.Duration // oldest first; may be empty
}

// Address is where phones reach this host.
type Address struct {
	URL     string // public address in force, "wss://host[:port]"; "" when none is set
	Fixed   string // what sets it above this page, such as "public_url in config.toml"; "" when the page may change it
	Warning string // why a phone will not get through, in words; "" when nothing is known to be wrong
}

// PairStart is the page from which a pairing starts.
type PairStart struct {
	Address Address
	Offered string // address of this machine in its tailnet, "wss://box.tailnet.ts.net", or ""
	Command string // what publishes the client listener there, or ""
	Typed   string // what the owner typed, after Fault
	Fault   string // what is wrong with Typed, or ""
	Paused  bool
	Full    bool // every device place is taken
}

// InvitationState says what became of a code.
type InvitationState string

// The values of InvitationState.
const (
	InvitationWaiting  InvitationState = "waiting"
	InvitationRedeemed InvitationState = "redeemed"
	InvitationReplaced InvitationState = "replaced"  // a newer code was made
	InvitationCanceled InvitationState = "cancelled" // taken back on the page or the command line
	InvitationGone     InvitationState = "gone"      // unknown: the host has started again since
)

// Invitation is the page of one pairing code.
type Invitation struct {
	ID        string // names it in addresses; nothing can be redeemed with it
	State     InvitationState
	Host      string // where the phone will go, host[:port]
	Payload   string // exact text of the code; "" unless it waits
	Code      QRCode // drawing of Payload
	Legacy    bool   // Payload carries an expiry, for apps that insist on one
	Always    bool   // every Payload does: the configuration says so
	Created   time.Time
	Device    string // who redeemed it
	Connected bool   // that device has connected since
	Refusal   RedeemRefusal
	Warning   string  // why a phone will not get through to Host, in words; "" when nothing is known to be wrong
	Address   Address // that is remembered; it may be another
	Paused    bool
}

// RedeemCause says why a phone did not get in with a code.
type RedeemCause string

// The values of RedeemCause.
const (
	RedeemWrongCode   RedeemCause = "wrong_code"   // not the open one: mistyped, spent, replaced or taken back
	RedeemBadName     RedeemCause = "bad_name"     // the phone's name cannot be used
	RedeemListFull    RedeemCause = "list_full"    // every device place is taken
	RedeemTooMany     RedeemCause = "too_many"     // too many attempts lately
	RedeemGivenUp     RedeemCause = "given_up"     // the phone went away before it was answered
	RedeemStoreFailed RedeemCause = "store_failed" // the log says why
)

// RedeemRefusal is the last phone that was refused since the code was made. A
// zero At: none was.
type RedeemRefusal struct {
	At    time.Time
	Cause RedeemCause
	Wait  time.Duration // until phones may try again, with RedeemTooMany; 0: they may now
}

// Devices is the list of paired phones.
type Devices struct {
	Devices []Device
	Hosts   []AcceptedHost
	Paused  bool
}

// Device is one paired phone.
type Device struct {
	ID        string
	Name      string
	Created   time.Time
	LastSeen  time.Time // zero: it has never connected
	Connected bool      // now
	Busy      Busy
}

// Busy says that a phone was turned away because another one was connected.
type Busy struct {
	At       time.Time // of the last time; zero: it was not, since it was connected itself
	By       string    // name of the phone that is in the way, or was then; "" for another client
	Kept     bool      // it is not connected: the place is kept for it
	CanLetIn bool      // another one is in the way now
}

// Rename is the form for a phone's name.
type Rename struct {
	ID    string
	Shown string // name under which it is shown
	Typed string // what stands in the field
	Fault string // what is wrong with Typed, or ""
}

// MaxDeviceName bounds a phone's name, in UTF-16 units.
const MaxDeviceName = 80

// AcceptedHost is a host name under which phones may come in.
type AcceptedHost struct {
	Host    string // host[:port]
	Fixed   bool   // it is the public address and goes away with that
	Invited bool   // it is the address of the open code alone, and goes away with that
}

// Extensions is the list of extensions, waiting ones first.
type Extensions struct{ Extensions []Extension }

// ExtensionState is what the owner has decided.
type ExtensionState string

// The values of ExtensionState.
const (
	ExtensionWaiting ExtensionState = "waiting"
	ExtensionAllowed ExtensionState = "allowed"
	ExtensionByToken ExtensionState = "by_token"
	ExtensionBlocked ExtensionState = "blocked"
)

// Extension is one origin with one of its keys.
type Extension struct {
	ID        int64
	Origin    string
	Digits    string // four decimal digits; "" for one that came with the host token
	State     ExtensionState
	FirstSeen time.Time
	LastSeen  time.Time
}

// Refusals is the list of refused attempts, newest first.
type Refusals struct{ Refusals []Refusal }

// Refusal is all attempts of one peer that failed for one cause.
type Refusal struct {
	Cause  string // short name, as in the log
	Peer   string // "" for a tool that said nothing about itself
	Advice string // plain reason and what to do
	Count  int
	First  time.Time
	Last   time.Time
}

// Sessions is the list of browsers that are signed in.
type Sessions struct{ Sessions []Session }

// Session is one browser that is signed in.
type Session struct {
	ID       string
	Browser  string // as the browser called itself, shortened
	Created  time.Time
	LastSeen time.Time
	Expires  time.Time
	Current  bool // the one that looks at the list
}

// Confirm asks before something that cannot be undone.
type Confirm struct {
	Title, Lead, Button string
	Action              string // path below Layout.Base that is posted to
	Back                Place
	Option              Option  // something more that may be done; none without a name
	Fields              []Field // posted with an Option
}

// Option is a box that is ticked to begin with.
type Option struct{ Name, Label string }

// Field is a hidden part of a form.
type Field struct{ Name, Value string }
