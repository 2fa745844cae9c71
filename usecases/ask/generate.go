package ask

import (
	"context"
	"errors"

	"plexus/ports"
	"plexus/usecases/recovery"
)

// Generate streams the model's text, when its turn has come among all that want
// one. Its contract is that of ports.Generator; in addition it gives
// ports.ErrNoModel where answers are switched off, and an error of its own for a
// model that panics. A failure of the model is logged and counts in Health; that it
// stopped at its limit, or would not answer, is none.
func (s *Service) Generate(ctx context.Context, prompt ports.Prompt, emit func(text string) error) error {
	if s.deps.Model == nil || s.opts.NoAnswers {
		return ports.ErrNoModel
	}
	if err := s.generations.Acquire(ctx); err != nil {
		return err
	}
	defer s.generations.Release()
	var refused error // the error of emit
	emitted := false
	err := recovery.Call("model", func() error {
		return s.deps.Model.Generate(ctx, prompt, func(piece string) error {
			if piece == "" {
				return ctx.Err()
			}
			if refused == nil {
				refused = emit(piece)
			}
			emitted = emitted || refused == nil
			return refused
		})
	})
	switch {
	case refused != nil:
		return refused
	case err == nil && emitted:
		return nil
	case ctx.Err() != nil && !recovery.Is(err):
		return ctx.Err()
	case errors.Is(err, ports.ErrNoModel) && !emitted,
		errors.Is(err, ports.ErrModelCut), errors.Is(err, ports.ErrModelFiltered), errors.Is(err, ports.ErrModelRefused):
		return err
	case err == nil:
		err = ports.ErrModelEmpty
	}
	s.updateHealth(func(hl *health) { hl.modelFailure.add(s.deps.Now(), err) })
	s.logFailure("the model failed", err)
	return err
}
