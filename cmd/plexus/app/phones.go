package app

import (
	"crypto/rand"

	"plexus/adapters/novaws"
	"plexus/domain/pairing"
)

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
