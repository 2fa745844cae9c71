package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Event is a line of `plexus phone --json`: the members that tests look at.
type Event struct {
	Event, Phase, Line, Error, Text, Role, Pipeline string
	OK, Final                                       bool
	TextInput                                       bool   `json:"text_input"`
	Dictation                                       bool   `json:"dictation"`
	TextBox                                         bool   `json:"text_box"`
	FullText                                        string `json:"full_text"`
	RequestID                                       string `json:"request_id"`
	SelectedID                                      string `json:"selected_id"`
	Conversations                                   []struct {
		ID, Kind string
		Number   int
	}
	Messages []struct{ Role, Text, Status string }
}

// Any is an event whatever its members are.
func Any(Event) bool { return true }

// TerminalPhone is a running `plexus phone --json`.
type TerminalPhone struct {
	t      *testing.T
	typed  io.Writer
	events chan Event
}

// showsWithin bounds the wait for an event: the phone may have to connect again,
// and a recogniser may have to be given up.
const showsWithin = time.Minute

// StartTerminalPhone starts cmd, which is such a phone, until the test ends.
func StartTerminalPhone(t *testing.T, cmd *exec.Cmd) *TerminalPhone {
	t.Helper()
	typed, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &TerminalPhone{t: t, typed: typed, events: make(chan Event, 4096)}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(h.events)
		lines := bufio.NewScanner(out)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			var e Event
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Errorf("the phone printed %q: %v", lines.Text(), err)
			}
			h.events <- e
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		reading.Wait()
		_ = cmd.Wait()
		if t.Failed() && complaints.Len() > 0 {
			t.Logf("the phone says: %s", &complaints)
		}
	})
	return h
}

// Says types a line.
func (h *TerminalPhone) Says(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.typed, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// Shows reads on to the next event of a kind that fits; what names it.
func (h *TerminalPhone) Shows(kind, what string, fits func(Event) bool) Event {
	h.t.Helper()
	late := time.After(showsWithin)
	var passed []string
	for {
		select {
		case e, more := <-h.events:
			switch {
			case !more:
				h.t.Fatalf("the phone ended before a %s %s", kind, what)
			case e.Event == kind && fits(e):
				return e
			}
			passed = append(passed, fmt.Sprintf("%.300s", fmt.Sprint(e)))
		case <-late:
			h.t.Fatalf("the phone never printed a %s %s, but\n%s", kind, what, strings.Join(passed, "\n"))
		}
	}
}

// Quits ends the phone as its person does.
func (h *TerminalPhone) Quits() {
	h.t.Helper()
	h.Says("/quit")
	for range h.events { // to its end
	}
}
