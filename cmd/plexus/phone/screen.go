package phone

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"plexus/adapters/novaclient"
	"plexus/domain/nova"
	"plexus/domain/text"
)

// screen shows what a phone shows, line by line. Nothing from outside
// reaches the terminal without being made harmless.
type screen struct {
	mu        sync.Mutex
	w         io.Writer
	server    string
	state     *state
	turn      string // whose text the open line shows, "" for none
	shownText string // what is already printed of it
}

// lines makes a text from outside safe to print with its lines. Those after the first
// are set in, so that none can be taken for a line of the screen.
func lines(s string) string { return strings.ReplaceAll(text.PrintableLines(s), "\n", "\n    ") }

// printLine prints a line of its own.
func (s *screen) printLine(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(format, args...)
}

func (s *screen) paired(server, deviceID string) {
	s.printLine("paired with %s as %q, device %s", text.Printable(server), phoneName, deviceID)
}

// lineDone prints the error of a typed line. A line without one shows its own
// result.
func (s *screen) lineDone(_ string, err error) {
	if err != nil {
		s.printLine("not done: %s", text.Printable(err.Error()))
	}
}

// textResult prints that an outcome is unknown. All other failures are printed by
// lineDone.
func (s *screen) textResult(t nova.InputText, err error) {
	var refused *novaclient.TextRefused
	if errors.As(err, &refused) && refused.Reason == nova.OutcomeUnknown {
		s.printLine("it is not known whether the host has this: %s", lines(t.Text))
	}
}

func (s *screen) dictationResult(words string, err error) {
	if err == nil {
		s.printLine("dictated: %s\n    /send sends it", lines(words))
	}
}

func (s *screen) input(takes nova.DesktopCapabilities, boxed bool) {
	switch {
	case boxed:
		s.printLine("this host takes text and dictation")
	case !takes.TextInput:
		s.printLine("the host takes no text")
	case !takes.Dictation:
		s.printLine("this host takes text. An app would not show its text box: dictation is missing")
	default:
		s.printLine("this host takes text. An app would not show its text box: client.ready does not offer it")
	}
}

func (s *screen) line(format string, args ...any) {
	s.endTurn()
	_, _ = fmt.Fprintf(s.w, format+"\n", args...) // a terminal that is gone is no reason to fail
}

// endTurn closes the open line.
func (s *screen) endTurn() {
	if s.turn != "" {
		_, _ = fmt.Fprintln(s.w)
	}
	s.turn, s.shownText = "", ""
}

func (s *screen) status(st novaclient.Status) {
	switch st.Phase {
	case novaclient.Connecting:
		s.printLine("connecting to %s", text.Printable(s.server))
	case novaclient.Connected:
		s.printLine("connected")
	case novaclient.Waiting:
		s.printLine("%s; trying again in %v", text.Printable(st.End.Error()), st.Retry)
	}
}

func (s *screen) message(m nova.Message) {
	switch m := m.(type) {
	case nova.Caption:
		s.caption(m)
	case nova.PlaybackAlert:
		s.printLine("playback was cut off")
	case nova.ConversationError:
		s.printLine("the host could not answer%s: %s. /again asks once more", s.inConversation(m.ConversationID), text.Printable(m.Error))
	case nova.ExecutorState:
		s.printLine("%s is %s", text.Printable(m.DisplayName), m.State)
	case nova.ExecutorProgress:
		s.printLine("%s: %s: %s", text.Printable(m.Executor), m.Phase, lines(m.Summary))
	case nova.ExecutorResult:
		if m.Result.Set {
			s.printLine("%s ended, %s: %s", text.Printable(m.Result.Value.Executor), m.Result.Value.Outcome, lines(m.Result.Value.Summary))
		}
	}
}

// caption adds to the open line what is new in a caption.
func (s *screen) caption(c nova.Caption) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if turn := string(c.Role) + " " + c.TurnID; turn != s.turn {
		if s.turn != "" && !c.Final {
			return // two answers at once: this one is shown when it is whole
		}
		s.endTurn()
		if c.Text == "" && c.FullText == "" {
			return // nothing was said
		}
		s.turn = turn
		who := "host"
		if c.Role == nova.User {
			who = "you"
		}
		_, _ = fmt.Fprintf(s.w, "%s%s: ", who, s.inConversation(c.ConversationID))
	}
	full := c.Text
	if c.FullText != "" {
		full = c.FullText
	}
	more := strings.TrimRight(newPart(s.shownText, full), "\n") // they come with what follows them
	s.shownText += more
	_, _ = io.WriteString(s.w, lines(more))
	if c.Final {
		s.endTurn()
	}
}

// inConversation says which conversation it is, unless it is the selected one.
func (s *screen) inConversation(conversationID string) string {
	last := s.state.snapshot()
	c, ok := findConversation(last, conversationID)
	if !ok || conversationID == last.Conversations.SelectedID {
		return ""
	}
	return fmt.Sprintf(" in %q", text.Printable(c.Title))
}

// newPart is what full adds to the text already shown. Long captions carry
// only their last part, and a recognizer may revise its text: then everything
// is printed again, after a gap.
func newPart(shown, full string) string {
	if more, ok := strings.CutPrefix(full, strings.TrimRight(shown, " ")); ok {
		return strings.TrimPrefix(more, shown[len(strings.TrimRight(shown, " ")):])
	}
	for n := min(len(shown), len(full)); n > 0; n-- {
		if strings.HasSuffix(shown, full[:n]) {
			return full[n:]
		}
	}
	return " … " + full
}

func (s *screen) card(c novaclient.Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := text.Printable(c.ID)
	if c.IsProject() {
		s.line("[%s] the host asks to %s %s", id, asked(c.Proposal.Action), text.Printable(cmp.Or(c.Proposal.Workspace, c.Proposal.Session)))
	} else {
		s.line("[%s] %s asks: %s", id, text.Printable(c.DisplayName), lines(c.Approval.Summary))
		for _, detail := range details(c.Approval.Detail) {
			s.line("    %s", strings.ReplaceAll(lines(detail), "\n", "\n    "))
		}
	}
	s.line("    %s", howToAnswer(c, id))
}

// howToAnswer is the last line of a card.
func howToAnswer(c novaclient.Card, id string) string {
	if c.Busy {
		return "an answer is being carried out"
	}
	if c.Deadline.IsZero() {
		return "the host holds the question back for now"
	}
	var offers []string
	if c.Offers(nova.Accept) {
		offers = append(offers, map[bool]string{true: "/confirm ", false: "/approve "}[c.IsProject()]+id)
	}
	offers = append(offers, "/decline "+id)
	return fmt.Sprintf("%s, within %v", strings.Join(offers, " or "), time.Until(c.Deadline).Round(time.Second))
}

func asked(a nova.ProposalAction) string {
	if a == "" {
		return "confirm"
	}
	return strings.ReplaceAll(string(a), "_", " ")
}

// details says what an approval would allow, a line each.
func details(d nova.ApprovalDetail) []string {
	switch d := d.(type) {
	case nova.FileChange:
		lines := make([]string, 0, len(d.Changes))
		for _, c := range d.Changes {
			line := c.Change + " " + c.Path
			if c.MovePath != "" {
				line += " -> " + c.MovePath
			}
			lines = append(lines, line)
		}
		return lines
	case nova.CommandExecution:
		return commandDetails(d.CommandDetail)
	case nova.NetworkAccess:
		return commandDetails(d.CommandDetail)
	case nova.Permissions:
		return []string{"scope: " + d.Scope}
	}
	return nil
}

func commandDetails(d nova.CommandDetail) []string {
	lines := []string{"command: " + d.Command, "in: " + d.Cwd}
	if d.Scope != "" {
		lines = append(lines, "scope: "+d.Scope)
	}
	return lines
}

func (s *screen) cardRemoved(c novaclient.Card) {
	s.printLine("[%s] is settled or withdrawn", text.Printable(c.ID))
}
