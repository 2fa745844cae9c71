// Package retention removes what nobody has touched for long, by days on which the
// host ran (decision G18).
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"plexus/domain/retention"
	"plexus/ports"
	"plexus/usecases/recovery"
)

// Topics are the topics of the personal host. Expire removes those that nobody
// touched since before a run-day.
type Topics interface {
	Expire(ctx context.Context, before int64) (n int, err error)
}

// Deps are what a Keeper works with.
type Deps struct {
	Days   ports.RunDays
	Pages  ports.AgingPages
	Topics Topics
	Now    func() time.Time
	Log    *slog.Logger
}

// Options say for how many run-days what is untouched is kept.
type Options struct{ PageDays, TopicDays int }

// Keeper keeps the calendar of run-days and removes what is too old by it.
type Keeper struct {
	deps Deps
	opts Options
	mu   sync.Mutex // held while the calendar is read, changed and stored
}

// New makes a Keeper.
func New(deps Deps, opts Options) *Keeper { return &Keeper{deps: deps, opts: opts} }

// Look counts the day, if it is another one, and removes what is too old. It is to be
// called at the start and about once an hour. A failure is logged: the next look does
// what is left.
func (k *Keeper) Look(ctx context.Context) {
	err := recovery.Call("retention", func() error { return k.look(ctx) })
	if err != nil && ctx.Err() == nil {
		k.deps.Log.Error("what is too old could not be removed", "error", err)
	}
}

func (k *Keeper) look(ctx context.Context) error {
	c, err := k.count(ctx)
	if err != nil || c.Paused() {
		return err
	}
	pages, err := k.deps.Pages.ForgetUnseen(ctx, c.Day-int64(k.opts.PageDays))
	topics, failed := k.deps.Topics.Expire(ctx, c.Day-int64(k.opts.TopicDays))
	if pages > 0 || topics > 0 {
		k.deps.Log.Info("what nobody has touched for long was removed", "pages", pages, "topics", topics)
	}
	return errors.Join(err, failed)
}

func (k *Keeper) count(ctx context.Context) (retention.Calendar, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, err := k.deps.Days.RunDays(ctx)
	if err != nil {
		return before, err
	}
	c, leap := before.Look(k.deps.Now())
	if c == before {
		return c, nil
	}
	if err := k.deps.Days.SetRunDays(ctx, c); err != nil {
		return c, err
	}
	if leap != 0 && c.Paused() {
		k.deps.Log.Warn("the clock has moved by more than two days since the host last looked; nothing is removed for its age until you open the owner's page, or the host has run on seven more days",
			"by", fmt.Sprintf("%+d days", leap/(24*time.Hour)))
	}
	return c, nil
}

// OwnerIsHere says that the owner has opened the page, and so would see a wrong clock:
// age may remove again.
func (k *Keeper) OwnerIsHere(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, err := k.deps.Days.RunDays(ctx)
	if err != nil || !c.Paused() {
		return err
	}
	return k.deps.Days.SetRunDays(ctx, c.Resumed())
}
