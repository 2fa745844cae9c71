package recovery_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"plexus/usecases/recovery"
)

func TestAPanicBecomesAnErrorWithoutItsContent(t *testing.T) {
	const secret = "what the owner asked"
	var list []int
	for _, c := range []struct {
		call func() error
		want string
	}{
		{func() error { panic(secret) }, "the store panicked with a string"},
		{func() error { panic(errors.New(secret)) }, "the store panicked with a *errors.errorString"},
		{func() error { _ = list[3]; return nil }, "index out of range [3]"},
	} {
		err := recovery.Call("the store", c.call)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if !recovery.Is(fmt.Errorf("around it: %w", err)) {
			t.Errorf("%v is not known as a panic", err)
		}
	}
}

func TestWhatDoesNotPanicIsPassedOn(t *testing.T) {
	if err := recovery.Call("the store", func() error { return io.EOF }); err != io.EOF || recovery.Is(err) {
		t.Errorf("error %v", err)
	}
	if err := recovery.Call("the store", func() error { return nil }); err != nil {
		t.Errorf("error %v", err)
	}
}
