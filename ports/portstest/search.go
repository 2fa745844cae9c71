package portstest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/domain/framing"
	"plexus/ports"
)

// SearchScript says how the service behind a provider behaves. Hang goes before
// Fault, Fault before Results.
type SearchScript struct {
	Results []framing.Result // what it finds, best first, without regard to a limit
	Fault   bool             // it answers with a failure of its own
	Hang    bool             // it takes the request and never answers
}

// secretQuery is a query that no error text may repeat.
const secretQuery = "zeppelin hangar"

// SearchProvider runs the contract of ports.SearchProvider. build gives a
// provider whose service follows the script, and cleans up by t.Cleanup.
func SearchProvider(t *testing.T, build func(t *testing.T, s SearchScript) ports.SearchProvider) {
	t.Helper()
	t.Run("limit is kept and rank order too", func(t *testing.T) {
		provider := build(t, SearchScript{Results: manyResults(framing.MaxResults + 5)})
		for _, limit := range []int{1, 3, framing.MaxResults} {
			got, err := provider.Search(t.Context(), ports.SearchRequest{Query: "q", Limit: limit})
			if err != nil {
				t.Fatalf("limit %d: %v", limit, err)
			}
			checkResults(t, got, limit, manyResults(limit))
		}
	})
	t.Run("result without URL is left out", func(t *testing.T) {
		found := manyResults(3)
		found[1].URL = ""
		provider := build(t, SearchScript{Results: found})
		got, err := provider.Search(t.Context(), ports.SearchRequest{Query: "q", Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		checkResults(t, got, 3, []framing.Result{found[0], found[2]})
	})
	t.Run("nothing found is no error", func(t *testing.T) {
		got, err := build(t, SearchScript{}).Search(t.Context(), ports.SearchRequest{Query: "q", Limit: 5})
		if err != nil || len(got) != 0 {
			t.Fatalf("got %d results, %v; want none and no error", len(got), err)
		}
	})
	t.Run("fault wraps the sentinel and keeps the query", func(t *testing.T) {
		_, err := build(t, SearchScript{Fault: true}).Search(t.Context(), ports.SearchRequest{Query: secretQuery, Limit: 5})
		if !errors.Is(err, ports.ErrSearchUnavailable) {
			t.Fatalf("got %v; want ErrSearchUnavailable", err)
		}
		if strings.Contains(err.Error(), "zeppelin") {
			t.Fatal("the error text repeats the query")
		}
	})
	t.Run("cancel", func(t *testing.T) { searchCancel(t, build) })
	t.Run("concurrent calls", func(t *testing.T) {
		provider := build(t, SearchScript{Results: manyResults(4)})
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				got, err := provider.Search(t.Context(), ports.SearchRequest{Query: "q", Limit: 4})
				if err != nil || len(got) != 4 {
					t.Errorf("got %d results, %v; want 4", len(got), err)
				}
			})
		}
		calls.Wait()
	})
}

func searchCancel(t *testing.T, build func(t *testing.T, s SearchScript) ports.SearchProvider) {
	t.Run("while the service is silent", func(t *testing.T) {
		provider := build(t, SearchScript{Hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		checkEnded(t, provider, ctx)
	})
	t.Run("before the call", func(t *testing.T) {
		provider := build(t, SearchScript{Hang: true})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		checkEnded(t, provider, ctx)
	})
}

func checkEnded(t *testing.T, provider ports.SearchProvider, ctx context.Context) {
	t.Helper()
	err := returnsAtOnce(t, ctx.Done(), func() error {
		_, err := provider.Search(ctx, ports.SearchRequest{Query: secretQuery, Limit: 5})
		return err
	})
	if !errors.Is(err, ctx.Err()) && !errors.Is(err, ports.ErrSearchUnavailable) {
		t.Fatalf("got %v; want %v or ErrSearchUnavailable", err, ctx.Err())
	}
	if strings.Contains(err.Error(), "zeppelin") {
		t.Fatal("the error text repeats the query")
	}
}

func manyResults(n int) []framing.Result {
	found := make([]framing.Result, n)
	for i := range found {
		found[i] = framing.Result{
			URL:     fmt.Sprintf("https://example.org/%d", i),
			Title:   fmt.Sprintf("Title %d", i),
			Snippet: fmt.Sprintf("Snippet %d", i),
			Score:   float32(n - i),
		}
	}
	return found
}

// checkResults compares the URLs in order: services word titles and scores in
// their own way.
func checkResults(t *testing.T, got []framing.Result, limit int, want []framing.Result) {
	t.Helper()
	if len(got) > limit {
		t.Fatalf("got %d results; the limit is %d", len(got), limit)
	}
	if len(got) != len(want) {
		t.Fatalf("got %d results; want %d", len(got), len(want))
	}
	for i, r := range got {
		if r.URL != want[i].URL {
			t.Errorf("result %d is %q; want %q", i, r.URL, want[i].URL)
		}
		if s := float64(r.Score); math.IsNaN(s) || math.IsInf(s, 0) {
			t.Errorf("result %d has the score %v", i, r.Score)
		}
	}
}
