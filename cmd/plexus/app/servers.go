package app

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"runtime"

	"plexus/adapters/adminweb"
	"plexus/adapters/gate"
	"plexus/adapters/hostfiles"
	"plexus/adapters/nerveuds"
	"plexus/adapters/nervews"
	"plexus/adapters/novaws"
	"plexus/cmd/plexus/config"
	"plexus/domain/admission"
	"plexus/domain/pairing"
)

// places are how many connections each listener may have.
type places struct{ page, admin, clients, nerve, nerveSocket gate.Limits }

// newPlaces is what is set, cut down to what fits into the open files that the process
// may have, of which each listener has a share of its own.
func newPlaces(cfg config.Limits, openFiles int, log *slog.Logger) places {
	p := places{
		page: adminweb.DefaultPlaces(), admin: adminweb.DefaultPlaces(), clients: novaws.DefaultPlaces(),
		nerve: nervews.DefaultPlaces(), nerveSocket: nerveuds.DefaultPlaces(),
	}
	p.page.Connections = cmp.Or(cfg.Pages, p.page.Connections)
	p.clients.Connections = cmp.Or(cfg.Clients, p.clients.Connections)
	p.nerve.Connections = cmp.Or(cfg.Connections, p.nerve.Connections)
	p.nerve.Opening = cmp.Or(cfg.Handshakes, p.nerve.Opening)
	p.nerveSocket.Connections = cmp.Or(cfg.Connections, p.nerveSocket.Connections)

	all := []*gate.Limits{&p.page, &p.admin, &p.clients, &p.nerve, &p.nerveSocket}
	var wants []int
	for _, limits := range all {
		wants = append(wants, limits.Total())
	}
	wanted := p
	for i, share := range gate.Shares(openFiles, wants...) {
		*all[i] = all[i].Within(share)
	}
	if p != wanted {
		log.Warn("the limit of open files leaves less room for connections than is set; ulimit -n raises it", "open_files", openFiles,
			"extensions", p.nerve.Connections, "tools", p.nerveSocket.Connections, "phones", p.clients.Connections, "page", p.page.Connections)
	}
	return p
}

// nerveServers are the servers of NERVE on the listeners that are open.
func (p *process) nerveServers() []server {
	l, payloads := p.listeners, nervews.NewPayloads()
	ws := nervews.Config{Places: p.places.nerve, Payloads: payloads, OwnersPage: l.ownersPage(), Log: p.log}
	if runtime.GOOS == "linux" {
		ws.PeerIsOurs = hostfiles.TCPPeerIsOurs // other systems do not tell whose a connection is
	}
	web := nervews.New(p.questions, p.browsers, ws)
	servers := []server{{"NERVE WebSocket", l.nerve, web.Serve, web.Shutdown}}
	if l.nerveSocket != nil {
		l.nerveSocket.OnRefused = func() { p.browsers.Refuse(admission.ForeignUser, "") }
		unix := nerveuds.New(p.questions, p.browsers, nerveuds.Config{Places: p.places.nerveSocket, Payloads: payloads, Log: p.log})
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
			Places: p.places.clients, RemoteAdmin: cfg.Pairing.RemoteAdmin,
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
