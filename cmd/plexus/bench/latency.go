package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plexus/domain/framing"
)

// Latency is one latency of the host beside the same thing without a host.
type Latency struct {
	What  string  `json:"what"`
	Host  Figures `json:"host"`
	Bare  Figures `json:"bare"`
	Extra Figures `json:"extra"` // host minus what the upstream itself takes
}

// cancelLatency: from Cancel written to the upstream call's end, seen by the
// upstream; beside it, a bare HTTP client that cancels the same call.
func (b *run) cancelLatency(ctx context.Context, r *Report) error {
	w, err := dialHost(b.host, true)
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	defer func() { _ = w.Close() }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	n := b.samples(1000)
	var host, bare []time.Duration
	for i := range n {
		if i%50 == 0 {
			b.say("cancel: %d of %d", i, n)
		}
		d, err := b.cancelOnce(ctx, w, uint64(i))
		if err != nil {
			return fmt.Errorf("cancel: %w", err)
		}
		host = append(host, d)
		if d, err = b.bareCancel(ctx, client); err != nil {
			return fmt.Errorf("bare cancel: %w", err)
		}
		bare = append(bare, d)
	}
	r.Cancel = Latency{What: "Cancel written to upstream call ended", Host: figuresOf(host), Bare: figuresOf(bare)}
	return nil
}

func (b *run) cancelOnce(ctx context.Context, w *wire, id uint64) (time.Duration, error) {
	stop, err := w.pack(framing.Cancel, id, nil)
	if err != nil {
		return 0, err
	}
	if err := w.send(w.ask(id, askHeld, false)); err != nil {
		return 0, err
	}
	if err := b.awaitHeld(ctx); err != nil {
		return 0, err
	}
	if _, err := w.Write(stop); err != nil {
		return 0, err
	}
	start := time.Now()
	return b.awaitEnded(ctx, start)
}

func (b *run) bareCancel(ctx context.Context, client *http.Client) (time.Duration, error) {
	call, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(call, http.MethodPost, b.stubs.modelURL+"/chat/completions", strings.NewReader("{}"))
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() {
		response, err := client.Do(request)
		if err == nil {
			err = errors.Join(errors.New("the stub answered"), response.Body.Close())
		}
		done <- err
	}()
	if err := b.awaitHeld(ctx); err != nil {
		return 0, err
	}
	start := time.Now()
	cancel()
	d, err := b.awaitEnded(ctx, start)
	if err := <-done; !errors.Is(err, context.Canceled) {
		return 0, err
	}
	return d, err
}

func (b *run) awaitHeld(ctx context.Context) error {
	select {
	case <-b.stubs.held:
		return nil
	case <-time.After(callLimit):
		return errors.New("the model stub was never called")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *run) awaitEnded(ctx context.Context, start time.Time) (time.Duration, error) {
	select {
	case end := <-b.stubs.ended:
		return max(end.Sub(start), 0), nil
	case <-time.After(callLimit):
		return 0, errors.New("the upstream call never ended")
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// firstResult: from the query written to the SearchResult read, with a search
// service that takes 0, 10 and 30 ms, beside a bare HTTP call to that service.
func (b *run) firstResult(ctx context.Context, r *Report) error {
	w, err := dialHost(b.host, true)
	if err != nil {
		return fmt.Errorf("first result: %w", err)
	}
	defer func() { _ = w.Close() }()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for _, ms := range []int{0, 10, 30} {
		n := b.samples(300)
		var host, bare, extra []time.Duration
		for i := range n {
			if i%20 == 0 {
				b.say("first result: service takes %d ms: %d of %d", ms, i, n)
			}
			d, err := firstResultOnce(w, uint64(1000*ms+i), ms)
			if err != nil {
				return fmt.Errorf("first result: %w", err)
			}
			host = append(host, d)
			extra = append(extra, d-time.Duration(ms)*time.Millisecond)
			if d, err = b.bareSearch(ctx, client, ms); err != nil {
				return fmt.Errorf("bare search: %w", err)
			}
			bare = append(bare, d)
		}
		r.FirstResult = append(r.FirstResult, Latency{
			What: fmt.Sprintf("first result, service takes %d ms", ms),
			Host: figuresOf(host), Bare: figuresOf(bare), Extra: figuresOf(extra),
		})
	}
	return nil
}

func firstResultOnce(w *wire, id uint64, ms int) (time.Duration, error) {
	request, err := w.ask(id, fmt.Sprintf("%s %d", askQuiet, ms), true)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if _, err := w.Write(request); err != nil {
		return 0, err
	}
	if err := w.await(framing.SearchResultMsg, id); err != nil {
		return 0, err
	}
	d := time.Since(start)
	return d, w.await(framing.AiTokenMsg, id)
}

func (b *run) bareSearch(ctx context.Context, client *http.Client, ms int) (time.Duration, error) {
	target := b.stubs.searchURL + "/v1/search?limit=10&q=" + url.QueryEscape(fmt.Sprintf("%s %d", askQuiet, ms))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	d := time.Since(start)
	_, err = io.Copy(io.Discard, response.Body)
	return d, errors.Join(err, response.Body.Close())
}

// Cold is the very first query of a fresh host.
type Cold struct {
	FirstResultUS float64 `json:"first_result_us"`
}

func (b *run) coldQuery(_ context.Context, r *Report) error {
	b.say("first query of a fresh host")
	w, err := dialHost(b.host, true)
	if err != nil {
		return fmt.Errorf("cold query: %w", err)
	}
	defer func() { _ = w.Close() }()
	d, err := firstResultOnce(w, 1, 0)
	if err != nil {
		return fmt.Errorf("cold query: %w", err)
	}
	r.Cold.FirstResultUS = float64(d.Nanoseconds()) / 1e3
	return nil
}
