//go:build race

package personal_test

// racing: the race detector allocates for itself.
const racing = true
