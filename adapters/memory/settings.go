package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"plexus/domain/secret"
	"plexus/domain/text"
	"plexus/ports"
)

// Settings is what the owner set, for as long as the process lives.
type Settings struct {
	mu     sync.Mutex
	values map[string]string
}

var _ ports.Settings = (*Settings)(nil)

// NewSettings gives an empty set.
func NewSettings() *Settings { return &Settings{values: map[string]string{}} }

// Settings implements ports.Settings.
func (s *Settings) Settings(ctx context.Context) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values), nil
}

// PutSetting implements ports.Settings.
func (s *Settings) PutSetting(ctx context.Context, key, value string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if key == "" || len(key) > ports.MaxSettingKey || len(value) > ports.MaxSettingValue {
		return ports.ErrSettingSize
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[key] = value
	return nil
}

// DropSetting implements ports.Settings.
func (s *Settings) DropSetting(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

// PageSessions is the owner's page sessions, for as long as the process lives.
type PageSessions struct {
	mu   sync.Mutex
	last int64 // highest ID ever given
	rows []ports.PageSession
}

var _ ports.PageSessions = (*PageSessions)(nil)

// NewPageSessions gives an empty set.
func NewPageSessions() *PageSessions { return &PageSessions{} }

// AddPageSession implements ports.PageSessions.
func (p *PageSessions) AddPageSession(ctx context.Context, s ports.PageSession) (ports.PageSession, error) {
	if err := ctx.Err(); err != nil {
		return ports.PageSession{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows = slices.DeleteFunc(p.rows, func(row ports.PageSession) bool { return !lives(row, s.CreatedAt) })
	if len(p.rows) >= ports.MaxPageSessions {
		oldest := slices.MinFunc(p.rows, func(a, b ports.PageSession) int {
			return cmp.Or(a.LastSeen.Compare(b.LastSeen), cmp.Compare(a.ID, b.ID))
		})
		p.drop(oldest.ID)
	}
	p.last++
	s.ID, s.UserAgent = p.last, text.Truncate(s.UserAgent, ports.MaxPageUserAgent)
	p.rows = append(p.rows, s)
	return s, nil
}

// FindPageSession implements ports.PageSessions.
func (p *PageSessions) FindPageSession(ctx context.Context, cookie, prefix secret.Hash, now time.Time) (ports.PageSession, error) {
	if err := ctx.Err(); err != nil {
		return ports.PageSession{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.rows {
		row := &p.rows[i]
		if !row.Cookie.Equal(cookie) || !row.Prefix.Equal(prefix) || !lives(*row, now) {
			continue
		}
		if now.Sub(row.LastSeen) >= ports.PageSessionStep {
			row.LastSeen = now
		}
		return *row, nil
	}
	return ports.PageSession{}, ports.ErrPageSessionUnknown
}

// PageSessions implements ports.PageSessions.
func (p *PageSessions) PageSessions(ctx context.Context, now time.Time) (list []ports.PageSession, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, row := range p.rows {
		if lives(row, now) {
			list = append(list, row)
		}
	}
	return list, nil
}

// RevokePageSession implements ports.PageSessions.
func (p *PageSessions) RevokePageSession(ctx context.Context, id int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.drop(id) {
		return ports.ErrPageSessionUnknown
	}
	return nil
}

func (p *PageSessions) drop(id int64) bool {
	before := len(p.rows)
	p.rows = slices.DeleteFunc(p.rows, func(row ports.PageSession) bool { return row.ID == id })
	return len(p.rows) < before
}

func lives(s ports.PageSession, now time.Time) bool {
	return now.Sub(s.CreatedAt) < ports.PageSessionLife
}
