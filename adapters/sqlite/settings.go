package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/ports"
)

// Settings keeps what the owner set on the page.
type Settings struct{ writer, reader *sql.DB }

var _ ports.Settings = (*Settings)(nil)

// Settings implements ports.Settings.
func (s *Settings) Settings(ctx context.Context) (all map[string]string, err error) {
	rows, err := s.reader.QueryContext(ctx, "SELECT key, value FROM settings")
	if err != nil {
		return nil, sqlitex.Wrap("read settings", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	all = map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, sqlitex.Wrap("read settings", err)
		}
		all[key] = value
	}
	return all, sqlitex.Wrap("read settings", rows.Err())
}

// PutSetting implements ports.Settings.
func (s *Settings) PutSetting(ctx context.Context, key, value string) error {
	if key == "" || len(key) > ports.MaxSettingKey || len(value) > ports.MaxSettingValue {
		return ports.ErrSettingSize
	}
	_, err := s.writer.ExecContext(ctx, "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
	return sqlitex.Wrap("store setting", err)
}

// DropSetting implements ports.Settings.
func (s *Settings) DropSetting(ctx context.Context, key string) error {
	_, err := s.writer.ExecContext(ctx, "DELETE FROM settings WHERE key = ?", key)
	return sqlitex.Wrap("drop setting", err)
}
