// Package personal is the personal host: the use cases of conversations, of the
// owner's lists and of what clients see of them, behind the ports. What it has
// said yes to is stored before it says so. Turns belong to it and not to the
// connection that asked for them.
package personal

import (
	"context"

	"plexus/domain/nova"
	"plexus/domain/workbench"
)

// Terms are what a client and the host have agreed upon.
type Terms struct {
	Desktop  bool          // the owner's own page, else a phone
	Personal bool          // the personal extension was granted
	Language nova.Language // of answers; "" is the host's default
}

// Caller is who the client is to commands.
func (t Terms) Caller() workbench.Caller {
	if t.Desktop {
		return workbench.Caller{ClientID: workbench.DesktopClient, CanTakeover: true}
	}
	return workbench.Caller{ClientID: workbench.RemoteClient}
}

// Endpoint is one attached client. Its methods may be called concurrently.
type Endpoint interface {
	// Deliver takes one control. An error refuses it and nothing more; nil is no
	// more than "it was handed over". Results come by the link. A personal.command
	// may wait for those before it, everything else returns at once.
	Deliver(ctx context.Context, control nova.Control) error
	// Audio takes uplink PCM16, which it does not keep. It never blocks.
	Audio(pcm []byte)
	// Snapshot gives the state as this client may see it.
	Snapshot(ctx context.Context) (nova.PersonalState, error)
	// Leave ends what belongs to the connection: its draft and its voice. Its turns
	// go on.
	Leave()
}
