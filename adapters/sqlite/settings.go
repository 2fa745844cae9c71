package sqlite

import (
	"context"
	"database/sql"

	"plexus/adapters/sqlite/sqlitex"
	"plexus/ports"
)

// Settings keeps what the owner set on the page.
type Settings struct{ writer, reader *sql.DB }

var _ ports.Settings = (*Settings)(nil)

// Settings implements ports.Settings.
func (s *Settings) Settings(ctx context.Context) (map[string]string, error) {
	settings := map[string]string{}
	query := func() (*sql.Rows, error) { return s.reader.QueryContext(ctx, "SELECT key, value FROM settings") }
	err := sqlitex.Each(query, func(row sqlitex.Scanner) (bool, error) {
		var key, value string
		err := row.Scan(&key, &value)
		settings[key] = value
		return true, err
	})
	return settings, sqlitex.Wrap("read settings", err)
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
