package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo terminal: what a person would see and type at, and the side
// that a program gets.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

// TestAsk_AtATerminal: the error output of a terminal says that the answer is still to
// come, and a terminal is not taken for a page that is piped in.
func TestAsk_AtATerminal(t *testing.T) {
	d := newPlace(t, extractive).serve(t)
	for _, tc := range []struct {
		name string
		code int
		sees string
		args []string
	}{
		{"it waits", 0, "Waiting for the answer", []string{"ask", "When did it open?", "--no-search", "--extract", "It opened in 1889."}},
		{"nothing is piped in", 2, "nothing is piped in", []string{"ask", "When did it open?", "--extract", "-"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			person, program := terminal(t)
			cmd := d.command(t, tc.args...)
			var stdout bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = program, &stdout, program
			err := cmd.Run()
			_ = program.Close()           // so that reading ends
			seen, _ := io.ReadAll(person) // it ends with an error, as of a terminal that is gone
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if cmd.ProcessState.ExitCode() != tc.code || !strings.Contains(string(seen), tc.sees) {
				t.Errorf("exit code %d, want %d; the terminal shows %q", cmd.ProcessState.ExitCode(), tc.code, seen)
			}
			if tc.code == 0 && strings.TrimSpace(stdout.String()) != "It opened in 1889. [page]" {
				t.Errorf("answered %q", stdout.String())
			}
		})
	}
	cmd := d.command(t, "ask", "When did it open?", "--no-search", "--extract", "-")
	cmd.Stdin = strings.NewReader("It opened in 1889.")
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "It opened in 1889. [page]" {
		t.Errorf("piped in: %q, %v", out, err)
	}
}
