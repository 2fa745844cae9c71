package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/sqlite"
	"plexus/cmd/plexus/config"
	"plexus/domain/admission"
	"plexus/domain/pairing"
)

// store is the open database and the secrets that lie beside it.
type store struct {
	*sqlite.Store
	token  hostfiles.LoadResult
	master pairing.TokenHash // of the master token, which the devices are bound to
}

func openStore(ctx context.Context, cfg config.Config, dataDir string, now func() time.Time, log *slog.Logger, done *closers) (*store, error) {
	path := filepath.Join(dataDir, hostfiles.DatabaseName)
	db, err := sqlite.Open(ctx, path, sqlite.Options{Now: now})
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", path, err, DatabaseAdvice(err))
	}
	done.add(db.Close)
	master, _, err := hostfiles.EnsureMasterToken(dataDir)
	if err != nil {
		return nil, err
	}
	// The devices in the database must have been paired under this token.
	if err := db.Devices().Bind(ctx, master.Hash()); err != nil {
		return nil, err
	}
	token, err := hostfiles.LoadToken(cfg.Listen.NerveTokenFile)
	if err != nil {
		return nil, err
	}
	for _, warning := range token.Warnings {
		log.Warn(warning)
	}
	s := &store{Store: db, token: token, master: master.Hash()}
	if token.Replaced {
		s.nameTokenHolders(ctx, log)
	}
	return s, nil
}

// nameTokenHolders logs the extensions that a new token locks out.
func (s *store) nameTokenHolders(ctx context.Context, log *slog.Logger) {
	rows, err := s.Extensions().Extensions(ctx)
	if err != nil {
		log.Error("the list of extensions could not be read", "error", err)
		return
	}
	var origins []string
	for _, row := range rows {
		if row.State == admission.ByToken {
			origins = append(origins, row.Origin)
		}
	}
	if len(origins) == 0 {
		return // the caller has logged that the token is new
	}
	log.Warn("the host token is a new one: these extensions came with the old one and have to be allowed again", "extensions", origins)
}

// DatabaseAdvice says what to do about a database that does not open.
func DatabaseAdvice(err error) string {
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
