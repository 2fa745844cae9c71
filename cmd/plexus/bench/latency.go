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

// inTurn times the host and the same thing without a host, in turn, n times each.
func (b *run) inTurn(what string, n int, host, bare func(i int) (time.Duration, error)) (hosts, bares []time.Duration, err error) {
	for i := range n {
		if i%20 == 0 {
			b.say("%s: %d of %d", what, i, n)
		}
		h, err := host(i)
		if err != nil {
			return nil, nil, err
		}
		f, err := bare(i)
		if err != nil {
			return nil, nil, fmt.Errorf("without a host: %w", err)
		}
		hosts, bares = append(hosts, h), append(bares, f)
	}
	return hosts, bares, nil
}

// cancelLatency: from Cancel written to the upstream call's end, seen by the
// upstream; beside it, a bare HTTP client that cancels the same call.
func (b *run) cancelLatency(ctx context.Context, w *wire, r *Report) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	host, bare, err := b.inTurn("cancel", b.samples(1000),
		func(i int) (time.Duration, error) { return b.cancelOnce(ctx, w, uint64(i)) },
		func(int) (time.Duration, error) { return b.bareCancel(ctx, client) })
	r.Cancel = Latency{What: "Cancel written to upstream call ended", Host: figuresOf(host), Bare: figuresOf(bare)}
	return err
}

func (b *run) cancelOnce(ctx context.Context, w *wire, id uint64) (time.Duration, error) {
	stop, err := w.pack(framing.Cancel, id, nil)
	if err != nil {
		return 0, err
	}
	if err := w.send(w.ask(id, askHung, false)); err != nil {
		return 0, err
	}
	return b.timeCancel(ctx, func() (time.Time, error) {
		_, err := w.Write(stop)
		return time.Now(), err
	})
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
	d, err := b.timeCancel(ctx, func() (time.Time, error) {
		start := time.Now()
		cancel()
		return start, nil
	})
	if err != nil {
		return 0, err
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		return 0, err
	}
	return d, nil
}

// timeCancel cancels a call that has reached the model stub, and gives how long after
// start the stub saw its end.
func (b *run) timeCancel(ctx context.Context, cancel func() (start time.Time, err error)) (time.Duration, error) {
	if _, err := receive(ctx, b.stubs.hung, "the model stub was never called"); err != nil {
		return 0, err
	}
	start, err := cancel()
	if err != nil {
		return 0, err
	}
	end, err := receive(ctx, b.stubs.ended, "the upstream call never ended")
	return max(end.Sub(start), 0), err
}

// receive waits for what a stub tells.
func receive[T any](ctx context.Context, told <-chan T, late string) (value T, err error) {
	select {
	case value = <-told:
		return value, nil
	case <-time.After(callLimit):
		return value, errors.New(late)
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// firstResult: from the query written to the SearchResult read, with a search
// service that takes 0, 10 and 30 ms, beside a bare HTTP call to that service.
func (b *run) firstResult(ctx context.Context, w *wire, r *Report) error {
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for _, ms := range []int{0, 10, 30} {
		host, bare, err := b.inTurn(fmt.Sprintf("first result: service takes %d ms", ms), b.samples(300),
			func(i int) (time.Duration, error) { return firstResultOnce(w, uint64(1000*ms+i), ms) },
			func(int) (time.Duration, error) { return b.bareSearch(ctx, client, ms) })
		if err != nil {
			return err
		}
		extra := make([]time.Duration, len(host))
		for i, d := range host {
			extra[i] = d - time.Duration(ms)*time.Millisecond
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

func (b *run) coldQuery(_ context.Context, w *wire, r *Report) error {
	b.say("first query of a fresh host")
	d, err := firstResultOnce(w, 1, 0)
	r.Cold.FirstResultUS = float64(d.Nanoseconds()) / 1e3
	return err
}
