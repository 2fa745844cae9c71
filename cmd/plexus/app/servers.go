package app

import (
	"crypto/rand"
	"runtime"

	"plexus/adapters/hostfiles"
	"plexus/adapters/nerveuds"
	"plexus/adapters/nervews"
	"plexus/adapters/novaws"
	"plexus/domain/admission"
	"plexus/domain/pairing"
)

// nerveServers are the servers of NERVE on the listeners that are open.
func (p *process) nerveServers() []server {
	cfg, l := p.opts.Config.Limits, p.listeners
	ws := nervews.Config{MaxConnections: cfg.Connections, MaxHandshakes: cfg.Handshakes, OwnersPage: l.ownersPage(), Log: p.log}
	if runtime.GOOS == "linux" {
		ws.PeerIsOurs = hostfiles.TCPPeerIsOurs // other systems do not tell whose a connection is
	}
	web := nervews.New(p.questions, p.browsers, ws)
	servers := []server{{"NERVE WebSocket", l.nerve, web.Serve, web.Shutdown}}
	if l.nerveSocket != nil {
		l.nerveSocket.OnRefused = func() { p.browsers.Refuse(admission.ForeignUser, "") }
		unix := nerveuds.New(p.questions, p.browsers, nerveuds.Config{MaxConnections: cfg.Connections, Log: p.log})
		servers = append(servers, server{"NERVE socket", l.nerveSocket, unix.Serve, unix.Shutdown})
	}
	return servers
}

// clientServer is the server for phones.
func (p *process) clientServer() server {
	cfg := p.opts.Config
	phones := novaws.New(
		novaws.Deps{Auth: p.devices, Pairing: p.devices, Personal: p.personal, Refuse: p.browsers.Refuse},
		novaws.Config{
			MaxConnections: cfg.Limits.Clients, RemoteAdmin: cfg.Pairing.RemoteAdmin,
			ServerInstanceID: newUUID(), InputInstanceID: p.personal.InputInstance(), NewID: newUUID,
			Log: p.log,
		})
	return server{"client listener", p.listeners.client, phones.Serve, phones.Shutdown}
}

// newUUID makes a random UUID; device IDs have the same form.
func newUUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails: see crypto/rand
	return pairing.NewDeviceID(random).String()
}
