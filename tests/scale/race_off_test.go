//go:build !race

package scale

// share is the part of everything that is stored: all of it.
const share = 1
