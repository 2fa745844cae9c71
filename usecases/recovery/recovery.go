// Package recovery turns a panic of what the core calls into an error that tells
// where it was and nothing of what was asked.
package recovery

import (
	"errors"
	"fmt"
)

// Error stands for a panic. Its value is not kept: it could hold what was asked.
type Error struct{ where, what string }

func (e *Error) Error() string { return e.where + " panicked with " + e.what }

// Call turns a panic of call into an *Error; where names what was called.
func Call(where string, call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{where: where, what: Describe(value)}
		}
	}()
	return call()
}

// Is reports whether err comes of a panic.
func Is(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e)
}

// Describe names the value of a panic without its content: the runtime's own
// errors hold no more than indexes and types, any other value gives its type.
func Describe(value any) string {
	if own, ok := value.(interface {
		error
		RuntimeError()
	}); ok {
		return own.Error()
	}
	return fmt.Sprintf("a %T", value)
}
