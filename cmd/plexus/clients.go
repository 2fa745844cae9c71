package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaws"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/config"
	"plexus/domain/pairing"
	"plexus/domain/usecases/devices"
	"plexus/domain/usecases/personal"
)

// bindDevices loads or makes the master token and makes sure that the devices in
// the database were paired under it.
func bindDevices(ctx context.Context, db *sqlite.Store, dataDir string) (pairing.TokenHash, error) {
	master, _, err := hostfiles.EnsureMasterToken(dataDir)
	if err != nil {
		return pairing.TokenHash{}, err
	}
	if err := db.Devices().Bind(ctx, master.Hash()); err != nil {
		return pairing.TokenHash{}, err
	}
	return master.Hash(), nil
}

// databaseAdvice says what to do about a database that does not open.
func databaseAdvice(err error) string {
	switch {
	case errors.Is(err, sqlite.ErrDamaged):
		return ".\nTo go back to a backup: plexus restore FILE. To start afresh: plexus devices reset --yes, which puts the damaged file aside; extensions then have to be allowed and phones paired again"
	case errors.Is(err, sqlite.ErrDiskFull):
		return ".\nMake room on that disk and start again"
	case errors.Is(err, sqlite.ErrUnsafeFile):
		return ".\nPut a plain file of your own there, or choose another place with --data-dir"
	}
	return ""
}

func newClients(ctx context.Context, cfg config.Config, store *store, dataDir string, log *slog.Logger) (*devices.Service, error) {
	clients, err := devices.New(ctx, devices.Deps{
		Devices: store.Devices(), Revoked: hostfiles.NewRevoked(dataDir),
		Settings: store.Settings(), Random: rand.Reader, Now: time.Now, Log: log,
	}, devices.Options{Master: store.master, PublicURL: cfg.PublicURL, LegacyExpiry: cfg.Pairing.LegacyExpiry})
	if err != nil {
		return nil, fmt.Errorf("building the host: %w", err)
	}
	return clients, nil
}

// clientServer is the server for phones.
func clientServer(cfg config.Config, h nerveHost, clients *devices.Service, p *personal.Host, l *listeners, log *slog.Logger) stopper {
	server := novaws.New(
		novaws.Deps{Auth: clients, Pairing: clients, Personal: p, Refuse: h.Refuse},
		novaws.Config{
			MaxConnections: cfg.Limits.Clients, RemoteAdmin: cfg.Pairing.RemoteAdmin,
			ServerInstanceID: newUUID(), InputInstanceID: p.InputInstance(), NewID: newUUID,
			Log: log,
		})
	return stopper{"client listener", l.client, server.Serve, server.Shutdown}
}

// newUUID makes a random UUID; device IDs have the same form.
func newUUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails: see crypto/rand
	return pairing.NewDeviceID(random).String()
}
