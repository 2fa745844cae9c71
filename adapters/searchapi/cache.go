package searchapi

import (
	"slices"
	"sync"
	"time"

	"plexus/domain/framing"
)

const (
	cacheEntries = 64
	cacheLife    = 60 * time.Second
)

type cacheKey struct {
	query string // cleaned
	limit int
}

type cacheEntry struct {
	key     cacheKey
	stored  time.Time
	results []framing.Result
}

// cache remembers the last answers in memory and nowhere else. A nil cache
// remembers nothing.
type cache struct {
	mu      sync.Mutex
	entries []cacheEntry // oldest first
}

// get gives a copy, since the caller owns what Search returns.
func (c *cache) get(key cacheKey, now time.Time) ([]framing.Result, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if e.key == key && now.Sub(e.stored) < cacheLife {
			return append([]framing.Result{}, e.results...), true
		}
	}
	return nil, false
}

func (c *cache) put(key cacheKey, results []framing.Result, now time.Time) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = slices.DeleteFunc(c.entries, func(e cacheEntry) bool {
		return e.key == key || now.Sub(e.stored) >= cacheLife
	})
	if len(c.entries) == cacheEntries {
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, cacheEntry{key, now, slices.Clone(results)})
}
