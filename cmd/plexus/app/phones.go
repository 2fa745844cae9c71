package app

import (
	"context"
	"crypto/rand"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaws"
	"plexus/domain/pairing"
	"plexus/domain/usecases/devices"
)

// newDevices builds who may come as a phone.
func (p *process) newDevices(ctx context.Context) (*devices.Service, error) {
	cfg := p.opts.Config
	return devices.New(ctx, devices.Deps{
		Devices: p.store.Devices(), Revoked: hostfiles.NewRevoked(p.opts.DataDir),
		Settings: p.store.Settings(), Random: rand.Reader, Now: time.Now, Log: p.log,
	}, devices.Options{Master: p.store.master, PublicURL: cfg.PublicURL, LegacyExpiry: cfg.Pairing.LegacyExpiry})
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
