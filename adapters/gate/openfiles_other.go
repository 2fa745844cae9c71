//go:build !unix

package gate

// OpenFiles is Unlimited here.
func OpenFiles() int { return Unlimited }
