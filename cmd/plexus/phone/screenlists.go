package phone

import (
	"fmt"
	"strings"

	"plexus/cmd/plexus/cli"
	"plexus/domain/conversations"
	"plexus/domain/text"
	"plexus/domain/workbench"
)

// shownMessages is how many messages /open shows.
const shownMessages = 10

// snapshot prints a line for each thing that is new for the person: where they are,
// new conversations, unread messages.
func (s *screen) snapshot(now, before workbench.MobileSnapshot) {
	here, _ := findConversation(now, now.Conversations.SelectedID)
	if !isSnapshot(before) {
		s.printLine("%s, %d unread. What you type goes to %s", cli.Counted(len(now.Conversations.Items), "conversation", "conversations"), now.Conversations.Unread, quotedTitle(here))
		return
	}
	for _, c := range now.Conversations.Items {
		old, known := findConversation(before, c.ID)
		number := s.state.conversations.number(c.ID)
		if !known {
			s.printLine("new %s: %s, /open %d", c.Kind, quotedTitle(c), number)
		}
		if c.Unread != old.Unread {
			s.printLine("%d unread in %s, /open %d", c.Unread, quotedTitle(c), number)
		}
	}
	if now.Conversations.SelectedID != before.Conversations.SelectedID {
		s.printLine("what you type goes to %s now", quotedTitle(here))
	}
}

// quotedTitle is a title between quotation marks, safe to show.
func quotedTitle(c workbench.ConversationRow) string { return `"` + text.Printable(c.Title) + `"` }

func (s *screen) list() {
	last := s.state.snapshot()
	var lines []string
	for _, c := range last.Conversations.Items {
		star := " "
		if c.ID == last.Conversations.SelectedID {
			star = "*"
		}
		line := fmt.Sprintf("%s %3d  %-9s  %s", star, s.state.conversations.number(c.ID), c.Kind, text.Printable(c.Title))
		if c.Unread > 0 {
			line += fmt.Sprintf("  (%d unread)", c.Unread)
		}
		lines = append(lines, line)
	}
	s.printBlock(lines)
}

func (s *screen) open() {
	last := s.state.snapshot()
	here, _ := findConversation(last, last.Conversations.SelectedID)
	lines := []string{fmt.Sprintf("%s %s:", here.Kind, quotedTitle(here))}
	messages := last.Conversations.Messages
	if len(messages) == 0 {
		lines = append(lines, "    nothing has been said here")
	}
	for _, m := range messages[max(0, len(messages)-shownMessages):] {
		lines = append(lines, messageText(m))
	}
	s.printBlock(lines)
}

// messageText is a stored message. Its own lines are indented, so that none looks
// like one of the phone's.
func messageText(m workbench.MessageRow) string {
	who, note := "host", ""
	if m.Role == conversations.User {
		who = "you"
	}
	switch {
	case m.Status == conversations.Pending:
		note = " (not answered yet)"
	case m.Status == conversations.Failed:
		note = " (the host could not answer)"
	case m.Status == conversations.Interrupted, m.Delivery == conversations.CutOff:
		note = " (interrupted)"
	}
	words := lines(m.Text)
	return "  " + who + note + ": " + words
}

func (s *screen) todos() {
	var lines []string
	for _, t := range s.state.snapshot().Life.Todos {
		if !isOpen(t) {
			continue
		}
		line := fmt.Sprintf("  %3d  %s", s.state.openTodos.number(t.ID), text.Printable(t.Title))
		if t.Status != "open" {
			line += "  (" + text.Printable(t.Status) + ")"
		}
		if t.Due != nil {
			line += "  by " + text.Printable(*t.Due)
		}
		lines = append(lines, line)
	}
	if lines == nil {
		lines = []string{"there is nothing to do"}
	}
	s.printBlock(lines)
}

func (s *screen) help() {
	var lines []string
	for _, c := range commands() {
		lines = append(lines, fmt.Sprintf("  %-15s  %s", strings.TrimSpace(c.word+" "+c.params), c.about))
	}
	s.printBlock(append(lines, fmt.Sprintf("  %-15s  %s", "/quit", "end")))
}

// printBlock prints lines together.
func (s *screen) printBlock(lines []string) {
	s.printLine("%s", strings.Join(lines, "\n"))
}
