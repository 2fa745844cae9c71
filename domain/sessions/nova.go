package sessions

import (
	"errors"
	"time"

	"plexus/domain/nova"
	"plexus/domain/secret"
)

// HelloLimit is how long a client may take from the open socket to a hello that
// has been accepted (Nova client protocol, §3).
const HelloLimit = 3 * time.Second

// Nova is the session of one /client/v1 connection: awaiting hello, ready,
// ended. Each method takes one event and gives what has to be done. It is a
// plain value: the connection's loop owns it, hands it one message at a time, and
// none while Busy.
type Nova struct {
	ids NovaIDs

	phase        novaPhase
	helloBy      time.Time  // zero once hello is accepted
	hello        nova.Hello // until its token has been checked: it holds the token
	language     nova.Language
	personal     bool                     // it asked for the personal extension
	granted      bool                     // and got it
	admitsMethod func(method string) bool // of the host
	busy         bool
	ledger       ledger
	pending      string // request ID of the command that is being delivered

	clock    clock
	pingBy   time.Time // when the next clock.ping is due; zero for never
	observed Observed
}

type novaPhase uint8

const (
	awaitingHello novaPhase = iota
	checkingToken
	acquiringSlot
	admitting
	ready
	ended
)

// NovaIDs are the three IDs by which a client notices a restart or a reconnect:
// three different UUIDs.
type NovaIDs struct {
	ServerInstance string // of this process
	InputInstance  string // of the text input, which lives as long
	Connection     string // of this socket
}

// NewNova is the session of a socket that was opened at now.
func NewNova(ids NovaIDs, now time.Time) *Nova {
	return &Nova{ids: ids, helloBy: now.Add(HelloLimit)}
}

// Offer is what the host has for a client at the moment of its hello. Everything
// that the client is told of it comes from here (decision K10).
type Offer struct {
	Input    nova.Input // what it takes of text and speech
	Personal bool       // there is a personal host
	// Admits says which methods of personal.command are a phone's.
	Admits func(method string) bool
}

// Effects is what an event asks the connection to do, in this order: send, then
// call, then close.
type Effects struct {
	Send  []nova.Message
	Call  Call        // nil: nothing to call; else the session is Busy until its result
	Audio []byte      // uplink PCM to hand on, or nil
	Close CloseReason // 0: stay
}

// Call is work outside the session whose result comes back as an event.
type Call interface{ call() }

// CheckToken asks whose token this is; answered by TokenChecked.
type CheckToken struct{ Token secret.Text }

// AcquireSlot asks for the one client's slot; answered by SlotAcquired.
type AcquireSlot struct{}

// Admission attaches the client to the host and publishes its snapshot, in the
// language that it chose ("" is the host's default); answered by AdmissionDone.
type Admission struct {
	Language nova.Language
	Personal bool
}

// Deliver hands a control to the host; answered by Delivered.
type Deliver struct{ Control nova.Control }

func (CheckToken) call()  {}
func (AcquireSlot) call() {}
func (Admission) call()   {}
func (Deliver) call()     {}

// Busy reports whether a call is out: no message may be handed in.
func (n *Nova) Busy() bool { return n.busy }

// Personal reports which column of the close codes holds: a client that asked
// for the personal extension, once its token was good.
func (n *Nova) Personal() bool { return n.personal }

// Granted reports whether the client has the personal extension.
func (n *Nova) Granted() bool { return n.granted }

// Observed gives what this connection has measured so far.
func (n *Nova) Observed() Observed { return n.observed }

// Deadline is when Tick has something to say; zero for never.
func (n *Nova) Deadline() time.Time {
	if !n.helloBy.IsZero() {
		return n.helloBy
	}
	return n.pingBy
}

// Tick tells the time, also while it is Busy.
func (n *Nova) Tick(now time.Time) Effects {
	switch {
	case n.Deadline().IsZero() || now.Before(n.Deadline()):
		return Effects{}
	case !n.helloBy.IsZero():
		return n.End(HelloTimeout)
	}
	ping, ok := n.clock.ping(now)
	if !ok {
		n.pingBy = time.Time{}
		return Effects{}
	}
	n.pingBy = now.Add(ClockInterval)
	return Effects{Send: []nova.Message{ping}}
}

// Overflow: more was received than may wait.
func (n *Nova) Overflow() Effects {
	if n.phase < acquiringSlot {
		return n.End(BadHello)
	}
	return n.End(InputOverflow)
}

// Text is one text message, valid UTF-8, that came at now.
func (n *Nova) Text(b []byte, now time.Time) Effects {
	switch n.phase {
	case awaitingHello:
		hello, err := nova.DecodeHello(b)
		if err != nil {
			return n.End(BadHello)
		}
		n.hello = hello
		return n.call(checkingToken, CheckToken{hello.Token})
	case ready:
		return n.command(b, now)
	}
	return Effects{} // nothing is taken while it is busy, or for good
}

// Binary is one binary message.
func (n *Nova) Binary(b []byte) Effects {
	switch n.phase {
	case awaitingHello:
		return n.End(BadHello)
	case ready:
		if nova.CheckUplinkPCM(b) != nil {
			return n.End(ProtocolFault)
		}
		return Effects{Audio: b}
	}
	return Effects{}
}

// TokenVerdict is the answer to CheckToken.
type TokenVerdict uint8

// The verdicts.
const (
	TokenKnown     TokenVerdict = iota + 1
	TokenUnknown                // of no device: 4003, upon which clients erase their credentials
	TokenUnchecked              // it could not be found out: our fault, and never 4003
)

// TokenChecked answers CheckToken. What else is wrong with the hello counts only
// now, so that only a client with a good token learns of it.
func (n *Nova) TokenChecked(verdict TokenVerdict) Effects {
	if !n.answered(checkingToken) {
		return Effects{}
	}
	hello := n.hello
	n.hello = nova.Hello{}
	switch verdict {
	case TokenKnown:
	case TokenUnknown:
		return n.End(AuthRejected)
	default:
		return n.End(Internal)
	}
	switch hello.Fault {
	case nova.HelloVersion:
		return n.End(UnsupportedProtocol)
	case nova.HelloMedia:
		return n.End(UnsupportedMedia)
	case nova.HelloLanguage:
		return n.End(UnsupportedLanguage)
	}
	n.personal, n.language = hello.Personal, hello.Language
	n.helloBy = time.Time{}
	return n.call(acquiringSlot, AcquireSlot{})
}

// SlotAcquired answers AcquireSlot. offer counts only where the slot was acquired.
func (n *Nova) SlotAcquired(acquired bool, offer Offer) Effects {
	if !n.answered(acquiringSlot) {
		return Effects{}
	}
	if !acquired {
		return n.End(ConcurrentClient)
	}
	n.granted, n.admitsMethod = n.personal && offer.Personal, offer.Admits
	e := n.call(admitting, Admission{Language: n.language, Personal: n.granted})
	e.Send = []nova.Message{nova.NewReady(n.ids.ServerInstance, n.ids.Connection, offer.Input, n.granted)}
	if capabilities, ok := nova.NewDesktopCapabilities(offer.Input, n.ids.InputInstance); ok {
		e.Send = append(e.Send, capabilities)
	}
	return e
}

// AdmissionDone answers Admission, at now.
func (n *Nova) AdmissionDone(err error, now time.Time) Effects {
	if !n.answered(admitting) {
		return Effects{}
	}
	if err != nil {
		return n.End(ProtocolFault)
	}
	n.phase, n.pingBy = ready, now.Add(ClockInterval)
	return Effects{}
}

// command runs the order of §9.3 up to the delivery.
func (n *Nova) command(b []byte, now time.Time) Effects {
	c, err := nova.DecodeCommand(b)
	if err != nil {
		return n.End(ProtocolFault)
	}
	if c.ConnectionID != n.ids.Connection {
		return receipt(c.RequestID, nova.Stale)
	}
	control, fingerprint, err := c.Control()
	if err != nil {
		return n.End(ProtocolFault)
	}
	status, known := n.ledger.begin(c.RequestID, fingerprint)
	if known {
		return receipt(c.RequestID, status)
	}
	n.pending = c.RequestID
	personal, isPersonal := control.(nova.PersonalCommand)
	switch {
	case n.observe(control, now):
		return n.receipted(nil)
	case isPersonal && !(n.granted && n.admitsMethod(personal.Method)): // without the extension, or not a phone's (decisions K2 and K9)
		return n.receipted(errNotAdmitted)
	}
	return n.call(ready, Deliver{control})
}

// errNotAdmitted refuses a personal.command; its text is never shown.
var errNotAdmitted = errors.New("not admitted on this connection")

// Delivered answers Deliver: an error is a refusal and nothing worse.
func (n *Nova) Delivered(err error) Effects {
	if !n.answered(ready) {
		return Effects{}
	}
	return n.receipted(err)
}

// receipted ends the pending command.
func (n *Nova) receipted(err error) Effects {
	status := nova.Rejected
	if err == nil {
		status = n.ledger.apply(n.pending)
	}
	e := receipt(n.pending, status)
	if n.ledger.full() {
		e.Close = n.End(ControlCapacity).Close
	}
	return e
}

func (n *Nova) call(next novaPhase, c Call) Effects {
	n.phase, n.busy = next, true
	return Effects{Call: c}
}

// answered takes the result of a call; false for one that nobody waits for, as
// when the session ended meanwhile.
func (n *Nova) answered(phase novaPhase) bool {
	if n.phase != phase || !n.busy {
		return false
	}
	n.busy = false
	return true
}

// End ends the session. Only the first reason counts.
func (n *Nova) End(reason CloseReason) Effects {
	if n.phase == ended {
		return Effects{}
	}
	n.phase, n.busy, n.helloBy, n.pingBy = ended, false, time.Time{}, time.Time{}
	n.clock = clock{}
	n.hello = nova.Hello{}
	return Effects{Close: reason}
}

func receipt(requestID string, status nova.Status) Effects {
	return Effects{Send: []nova.Message{nova.Receipt{RequestID: requestID, Status: status}}}
}
