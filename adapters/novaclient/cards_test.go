package novaclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/nova"
)

// project writes a pending project.state; tweaks replace parts of it.
func project(id string, tweaks ...string) string {
	return strings.NewReplacer(tweaks...).Replace(`{"type":"project.state","workspace_display_name":null,"session_title":null,"roster":[],` +
		`"pending_confirmation":true,"pending_confirmation_busy":false,"pending_confirmation_id":"` + id + `","pending_action":"create_workspace",` +
		`"pending_workspace_display_name":"w","pending_session_title":null,"pending_expires_in_seconds":360}`)
}

const noProject = `{"type":"project.state","workspace_display_name":null,"session_title":null,"roster":[],` +
	`"pending_confirmation":false,"pending_confirmation_busy":false,"pending_action":null,` +
	`"pending_workspace_display_name":null,"pending_session_title":null,"pending_expires_in_seconds":null}`

// approval writes a pending executor.approval.
func approval(id string, tweaks ...string) string {
	return strings.NewReplacer(tweaks...).Replace(`{"type":"executor.approval","executor":"code","display_name":"Code","pending_approval":true,` +
		`"pending_approval_busy":false,"pending_approval_id":"` + id + `","kind":"command_execution",` +
		`"local_detail":{"kind":"command_execution","command":"make","cwd":"/src"},"operation_summary":"Run make","expires_in_seconds":60}`)
}

const noApproval = `{"type":"executor.approval","executor":"code","display_name":"Code","pending_approval":false,"pending_approval_busy":false,` +
	`"kind":null,"local_detail":null,"operation_summary":null,"expires_in_seconds":null}`

func TestCards_ActionableOrNot(t *testing.T) {
	for name, c := range map[string]struct {
		said string
		want error // of an answer to the card "c"
	}{
		"project":                   {project("c"), nil},
		"project, longest id":       {project(strings.Repeat("c", 128)), ErrNoCard}, // it is there, under its own id
		"project, id too long":      {project("c", `"c"`, `"`+strings.Repeat("c", 129)+`"`), ErrNoCard},
		"project, no id":            {project("c", `"pending_confirmation_id":"c",`, ""), ErrNoCard},
		"project, not pending":      {noProject, ErrNoCard},
		"project, busy":             {project("c", `busy":false`, `busy":true`), ErrBusy},
		"project, busy is missing":  {project("c", `"pending_confirmation_busy":false,`, ""), ErrNoCard},
		"project, held":             {project("c", `:360}`, `:null}`), ErrHeld},
		"project, countdown wrong":  {project("c", `:360}`, `:"360"}`), ErrNoCard},
		"project, countdown below":  {project("c", `:360}`, `:-1}`), ErrNoCard},
		"project, at 0":             {project("c", `:360}`, `:0}`), ErrExpired},
		"approval":                  {approval("c"), nil},
		"approval, no id":           {approval("c", `"pending_approval_id":"c",`, ""), ErrNoCard},
		"approval, not pending":     {noApproval, ErrNoCard},
		"approval, busy":            {approval("c", `busy":false`, `busy":true`), ErrBusy},
		"approval, busy is missing": {approval("c", `"pending_approval_busy":false,`, ""), ErrNoCard},
		"approval, held":            {approval("c", `:60}`, `:null}`), ErrHeld},
		"approval, no countdown":    {approval("c", `,"expires_in_seconds":60`, ""), ErrNoCard},
		"approval, no detail":       {approval("c", `{"kind":"command_execution","command":"make","cwd":"/src"}`, "null"), ErrNoCard},
		"approval, not offered":     {approval("c", `:60}`, `:60,"allowed_decisions":["decline","acceptForSession"]}`), ErrNotOffered},
		"approval, unknown offers":  {approval("c", `:60}`, `:60,"allowed_decisions":["accept","later","decline"]}`), nil},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(IOS)
			l.say(c.said)
			synctest.Wait()
			answered := make(chan error, 1)
			go func() {
				_, err := conn.Decide(t.Context(), "c", nova.Accept)
				answered <- err
			}()
			if c.want == nil {
				l.receipt(l.next(), nova.Applied)
			}
			if err := <-answered; !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
			l.silent("p") // what cannot be answered is not sent
			finish(conn, l)
		})
	}
}

// TestCards_AnAnswerOnTheWire looks at what each answer says, and that it is
// said once.
func TestCards_AnAnswerOnTheWire(t *testing.T) {
	scoped := strings.Replace(project("c"), `:360}`, `:360,"conversation_id":"k"}`, 1)
	for name, c := range map[string]struct {
		p        Profile
		said     string
		decision nova.Decision
		want     string // member=value, sorted
	}{
		"confirm":             {Flutter, project("c"), nova.Accept, `confirmed=true proposal_id="c"`},
		"confirm, scoped":     {Flutter, scoped, nova.Accept, `confirmed=true conversation_id="k" proposal_id="c"`},
		"confirm, old app":    {IOS, scoped, nova.Accept, `confirmed=true proposal_id="c"`},
		"do not confirm":      {Flutter, project("c"), nova.Decline, `confirmed=false proposal_id="c"`},
		"approve":             {Flutter, approval("c"), nova.Accept, `approval_id="c" approved=true executor="code"`},
		"decline":             {IOS, approval("c"), nova.Decline, `approval_id="c" approved=false executor="code"`},
		"approve the session": {IOS, approval("c", `:60}`, `:60,"allowed_decisions":["acceptForSession","decline"]}`), nova.AcceptForSession, `approval_id="c" approved=true executor="code" scope="session"`},
	} {
		inFakeTime(t, func(t *testing.T, h *host) {
			conn, l := h.connect(c.p)
			l.say(c.said)
			synctest.Wait()
			statuses := make(chan nova.Status, 1)
			go func() {
				status, _ := conn.Decide(t.Context(), "c", c.decision)
				statuses <- status
			}()
			command := l.next()
			l.receipt(command, nova.Rejected)
			if status := <-statuses; status != nova.Rejected {
				t.Errorf("%s: the receipt is %q", name, status)
			}
			var members []string
			for member, value := range command.payload {
				if member != "type" {
					members = append(members, member+"="+string(value))
				}
			}
			slices.Sort(members)
			if got := strings.Join(members, " "); got != c.want {
				t.Errorf("%s: the answer is %s, want %s", name, got, c.want)
			}
			if _, err := conn.Decide(t.Context(), "c", c.decision); !errors.Is(err, ErrAnswered) {
				t.Errorf("%s: a second answer gave %v", name, err)
			}
			if len(conn.Cards()) != 1 {
				t.Errorf("%s: the receipt took the card away", name)
			}
			finish(conn, l)
		})
	}
}

func TestCards_CountDownFromTheirReceipt(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		l.say(approval("c"))
		synctest.Wait()
		timer := time.NewTimer(60 * time.Second)
		<-timer.C
		if _, err := c.Decide(t.Context(), "c", nova.Accept); !errors.Is(err, ErrExpired) {
			t.Errorf("after 60 s: %v", err)
		}
		l.say(approval("c")) // the host counts afresh
		synctest.Wait()
		if err := c.Cards()[0].Answerable(time.Now()); err != nil {
			t.Errorf("renewed: %v", err)
		}
		finish(c, l)
	})
}

// TestCards_ComeAndGo: a frame replaces its own card, a garbled one takes it
// away, and the end of the connection takes all.
func TestCards_ComeAndGo(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(IOS)
		for _, said := range []string{
			project("p1"), project("p1", `busy":false`, `busy":true`), project("p2"), `{"type":"project.state","pending_confirmation":true}`, noProject,
			approval("a1"), approval("b1", `"executor":"code"`, `"executor":"mail"`), `{"type":"executor.approval","executor":"code"}`, approval("a2"),
		} {
			l.say(said)
		}
		synctest.Wait()
		finish(c, l)
		want := "+p1 +p1 -p1 +p2 -p2 +a1 +b1 -a1 +a2 -a2 -b1"
		h.seen.add(func() {
			if got := strings.Join(h.seen.cards, " "); got != want {
				t.Errorf("the cards went %s, want %s", got, want)
			}
		})
		c, l = h.connect(IOS)
		if len(c.Cards()) != 0 {
			t.Error("a new connection begins with cards")
		}
		finish(c, l)
	})
}

func TestCards_MoreThanSixteenAreAnError(t *testing.T) {
	inFakeTime(t, func(t *testing.T, h *host) {
		c, l := h.connect(Flutter)
		for n := range maxCards {
			l.say(approval(fmt.Sprint("c", n), `"executor":"code"`, fmt.Sprintf(`"executor":"e%d"`, n)))
		}
		l.silent("sixteen")
		l.say(project("seventeen"))
		expectFault(t, "17 cards", c)
		_ = l.ws.CloseNow()
	})
}
