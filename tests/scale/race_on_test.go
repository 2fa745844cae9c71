//go:build race

package scale

// share is the part of everything that is stored: the race detector makes the
// filling ten times slower, and what is looked at is in another process anyway.
const share = 10
