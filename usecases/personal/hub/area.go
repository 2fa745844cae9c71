package hub

import (
	"context"

	"plexus/domain/nova"
	"plexus/domain/nova/jsonform"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Area is one capability of the personal host: its commands and controls, its
// members of the snapshot, and what it has to do when the host or a client comes
// and goes. Every field may be left out. The hub asks areas in the order in which
// they were registered.
type Area struct {
	Commands []Command
	Controls []Control
	Members  []Member // in the order in which they stand in the snapshot

	// Audio takes uplink PCM16, which it may not keep. It never blocks.
	Audio func(c *Client, pcm []byte)

	// Open brings the store into the state in which a host begins.
	Open func(tx ports.PersonalTx) error
	// Refresh writes what time alone has changed, before a client is answered "state".
	Refresh func(tx ports.PersonalTx) error
	// Leave ends what belongs to a client that goes. Client.Left is true by then.
	Leave func(c *Client)
	// Close refuses new work, once the last command is through.
	Close func()
	// Stop ends what is left once no goroutine of the hub runs.
	Stop func()
}

// Command is one method of personal.command, and all that the host has to know of
// it: who may call it, how its parameters are read, what it does, and how the
// ledger of receipts treats it.
type Command struct {
	Method string
	// Phone: a phone may call it. Otherwise it is for the owner's page alone, which
	// may call every command.
	Phone bool
	// Do reads the parameters and says what is to be done. The zero Handler is a
	// method that is known and that this host cannot do: workbench.Unsupported,
	// whatever its parameters.
	Do Handler
	// Loose: members that Do does not read are passed over, else they are
	// workbench.InvalidRequest.
	Loose bool
	// PerClient: every client has request IDs of its own, and a repetition gets the
	// data of the first. Otherwise all clients share the IDs, and the ledger holds no
	// data.
	PerClient bool
	// KeepsData: the ledger holds the data though clients share the IDs.
	KeepsData bool
	// RetriesRefusals: a refusal is not kept, so that the same request may be tried
	// again.
	RetriesRefusals bool
}

// Handler reads a command's parameters and carries it out: Mutate, Apply, Query or
// Refuse.
type Handler struct {
	query bool
	read  func(f *jsonform.Form) call
}

// call is a command whose parameters have been read, in order or not. One of mutate
// and query is there.
type call struct {
	params any
	mutate func(r Request) Mutation
	query  func(tx ports.PersonalView, r Request) (data any, err error)
}

// Parameters are those of a command. Read takes each member of the form once; what
// it leaves is a member too many.
type Parameters[P any] interface {
	*P
	Read(f *jsonform.Form)
}

// input is what the parameters of a command have that hands a text to a task.
type input interface{ InputFor() (taskID string) }

// failed adds to the failure of a command that hands a text to a task what became of
// the text (nova-personal §1.2). Where nothing else is known it reached nobody: this
// host refuses before it hands anything over.
func (c call) failed(r Result) Result {
	if asked, ok := c.params.(input); ok && r.Error != "" && r.InputStatus == "" {
		r.InputStatus = "failed"
		if r.Error != workbench.InvalidRequest {
			r.InputTaskID = asked.InputFor()
		}
	}
	return r
}

// Mutate is the handler of a command that may change something. Its outcome is
// recorded in the ledger.
func Mutate[P any, R Parameters[P]](run func(r Request, p P) Mutation) Handler {
	return Handler{read: func(f *jsonform.Form) call {
		var p P
		R(&p).Read(f)
		return call{params: p, mutate: func(r Request) Mutation { return run(r, p) }}
	}}
}

// Apply is Mutate for what is nothing but its Mutation.Apply.
func Apply[P any, R Parameters[P]](run func(tx ports.PersonalTx, r Request, p P) (data any, err error)) Handler {
	return Mutate[P, R](func(r Request, p P) Mutation {
		return Mutation{Apply: func(tx ports.PersonalTx) (any, error) { return run(tx, r, p) }}
	})
}

// Query is the handler of a command that changes nothing and leaves no receipt.
func Query[P any, R Parameters[P]](run func(tx ports.PersonalView, r Request, p P) (data any, err error)) Handler {
	return Handler{query: true, read: func(f *jsonform.Form) call {
		var p P
		R(&p).Read(f)
		return call{params: p, query: func(tx ports.PersonalView, r Request) (any, error) { return run(tx, r, p) }}
	}}
}

// Refuse is the handler of a command that is always refused, once its parameters
// are in order.
func Refuse[P any, R Parameters[P]](why workbench.Refusal) Handler {
	return Mutate[P, R](func(Request, P) Mutation { return refusing(why) })
}

// Request is a command on its way.
type Request struct {
	ID          string
	Key         string // of its receipt
	Fingerprint string // of what it asks, see Command.read
	Client      *Client
}

// Mutation is how a change is carried out. Apply is required.
type Mutation struct {
	// Prepare runs before the transaction; a refusal ends the command.
	Prepare func(ctx context.Context) error
	// Apply runs in the transaction that stores the receipt, and checks everything
	// before it writes: what it wrote stays even when it refuses. data is the result's,
	// as JSON; json.RawMessage goes out as it is.
	Apply func(tx ports.PersonalTx) (data any, err error)
	// Committed runs once the change is durable and was no refusal.
	Committed func()
	// Finally runs at the end if Prepare has not failed.
	Finally func()
	// Failed runs when the store has failed: it undoes Prepare and gives the refusal
	// that the client is told. Without it that is workbench.Unavailable.
	Failed func() workbench.Refusal
}

func refusing(err error) Mutation {
	return Mutation{Apply: func(ports.PersonalTx) (any, error) { return nil, err }}
}

// Control is one kind of control beside personal.command. An error of its handler
// refuses it without a result.
type Control struct {
	kind   string
	handle func(ctx context.Context, c *Client, m nova.Control) error
}

// On handles the controls of type M.
func On[M nova.Control](handle func(ctx context.Context, c *Client, m M) error) Control {
	var zero M
	return Control{zero.Kind(), func(ctx context.Context, c *Client, m nova.Control) error { return handle(ctx, c, m.(M)) }}
}

// Member is one member of the snapshot. Desktop gives it as the owner's page sees
// it and Phone as a phone does; without one it is not shown there, so that nothing
// reaches a phone that its area does not name (nova-personal §9.3).
type Member struct {
	Name    string
	Desktop Section
	Phone   Section
}

// Section gives the value of a member for one client.
type Section func(tx ports.PersonalView, c *Client) (Value, error)
