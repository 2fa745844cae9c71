package personal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
	"plexus/usecases/personal"
	"plexus/usecases/personal/hub"
)

// knownMethods are those of nova-personal §1.5.
const knownMethods = `state feed.action memory.list memory.correct memory.forget discovery.configure
sources.add sources.pause sources.resume sources.disconnect sources.delete sources.sync
conversations.create conversations.select conversations.clear conversations.open_feed conversations.voice conversations.read
context.adopt context.dismiss presentation.set presentation.seen life.mutate
conversations.open_work conversations.confirm conversations.approve conversations.target conversations.targets
memory.evidence memory.purge memory.reextract
tasks.list tasks.get tasks.delegate tasks.control tasks.input tasks.cancel tasks.continue tasks.reconcile tasks.complete_todo
sources.consent sources.authorize_computer profile.refresh understanding.start understanding.action
news.state news.refresh news.action news.configure news.convert
connector.mail_status connector.mail_access connector.mail_connect connector.local_status connector.local_access connector.local_connect
connector.status connector.link connector.complete connector.configure connector.consent connector.scopes connector.sync
connector.pause connector.resume connector.disconnect connector.delete
feishu.status feishu.app.start feishu.app.status feishu.app.cancel feishu.app.bind feishu.login feishu.complete feishu.chats
feishu.configure feishu.consent feishu.sync feishu.pause feishu.resume feishu.disconnect feishu.delete feishu.bot.configure`

func TestEveryKnownMethodGetsOneAnswer(t *testing.T) {
	staged(t, func(s *stage) {
		garbage := []string{
			`{}`, ``, `[]`, `null`, `"x"`, `7`, `{`, `{"id":1}`, `{"id":"\u0000"}`, `{"id":"chat:main"}`, `{"id":"` + strings.Repeat("x", 600) + `"}`,
			`{"op":"create"}`, `{"op":{},"mode":[],"task_id":{},"id":{}}`, `{"id":"chat:main","enabled":true}`, `{"task_id":"t","control_revision":-1,"goal_revision":1e400}`,
		}
		for _, c := range []*client{s.phone(), s.desktop()} {
			page := c.isPage()
			for _, method := range strings.Fields(knownMethods) {
				admitted := page || s.Admits(method)
				for i, params := range garbage {
					id := fmt.Sprint(page, method, i)
					err := c.Deliver(s.Context(), command(id, method, params))
					results := got[nova.PersonalResult](c)
					switch {
					case !admitted && (!errors.Is(err, hub.ErrNotAdmitted) || len(results) > 0):
						s.Errorf("page %v, %s %s: %v and %+v, want a rejection", page, method, params, err, results)
					case admitted && (err != nil || len(results) != 1 || results[0].RequestID != id):
						s.Errorf("page %v, %s %s: %v and %+v, want one result", page, method, params, err, results)
					case admitted && results[0].Error == string(workbench.Unavailable):
						s.Errorf("page %v, %s %s: unavailable", page, method, params)
					}
				}
			}
		}
	})
}

func TestWhatIsNotGrantedIsRefusedWithoutAResult(t *testing.T) {
	staged(t, func(s *stage) {
		legacy, phone, page := s.attach(hub.Terms{}), s.phone(), s.desktop()
		for _, c := range []struct {
			from   *client
			method string
			want   error
		}{
			{legacy, "state", hub.ErrNotGranted},
			{legacy, "conversations.create", hub.ErrNotGranted},
			{phone, "sources.add", hub.ErrNotAdmitted},
			{phone, "no.such_method", hub.ErrNotAdmitted},
			{page, "no.such_method", hub.ErrNotAdmitted},
			{page, "", hub.ErrNotAdmitted},
			{page, "State", hub.ErrNotAdmitted},
		} {
			err := c.from.Deliver(s.Context(), command("r", c.method, `{}`))
			if sent := got[nova.PersonalResult](c.from); !errors.Is(err, c.want) || len(sent) > 0 {
				s.Errorf("%q: %v and %+v, want %v", c.method, err, sent, c.want)
			}
		}
		if n := len(s.records("receipt")); n != 0 {
			s.Errorf("%d receipts of what was refused", n)
		}
		page.refuse("r", "sources.add", `{}`, workbench.Unsupported)
	})
}

func TestACommandWhoseConnectionEndsWhileItWaitsIsDropped(t *testing.T) {
	staged(t, func(s *stage) {
		running, waiting, gone := s.phone(), s.phone(), s.phone()
		free := s.stall()
		busy := make(chan error, 1) // the store is at work: the command that runs has to wait for it
		go func() {
			busy <- s.store.Update(s.Context(), func(ports.PersonalTx) error { return nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(s.Context())
		ran := make(chan error, 1)
		go func() { ran <- running.Deliver(ctx, command("r", "conversations.create", `{"title":"Running"}`)) }()
		synctest.Wait()
		waited := make(chan error, 1)
		go func() { waited <- waiting.Deliver(ctx, command("w", "conversations.create", `{"title":"Waiting"}`)) }()
		synctest.Wait()
		cancel()
		if err := <-waited; !errors.Is(err, context.Canceled) {
			s.Errorf("the one that waited: %v", err)
		}
		if err := gone.Deliver(ctx, command("g", "conversations.create", `{"title":"Gone"}`)); !errors.Is(err, context.Canceled) {
			s.Errorf("one that came too late: %v", err)
		}
		free()
		if err := <-busy; err != nil {
			s.Fatal(err)
		}
		// What has begun is seen through.
		if err := <-ran; err != nil {
			s.Errorf("the one that ran: %v", err)
		}
		if r := got[nova.PersonalResult](running); len(r) != 1 || r[0].Error != "" {
			s.Errorf("the one that ran: %+v", r)
		}
		if s.chats("Running") != 1 || s.chats("Waiting")+s.chats("Gone") != 0 || len(got[nova.PersonalResult](waiting)) > 0 {
			s.Error("a dropped command was carried out, or one that ran was not")
		}
		// Its place is free again, and its id was not used.
		waiting.done("w", "conversations.create", `{"title":"Waiting"}`)
	})
}

func TestP14_AFailedWriteChangesNothing(t *testing.T) {
	staged(t, func(s *stage) {
		s.putFeed("f1", nil)
		s.put("task", "t1", held("t1", workbench.RemoteClient))
		phone := s.phone()
		phone.done("todo", "life.mutate", todo)
		other := s.chat("Other")
		phone.accept("text", conversations.MainID, "Hello")
		for _, c := range []struct {
			method, params string
			want           workbench.Refusal
		}{
			{"life.mutate", `{"op":"create","kind":"goal","title":"Rest"}`, workbench.Unavailable},
			{"life.mutate", `{"op":"profile","about":"Me","expected_version":0}`, workbench.Unavailable},
			{"conversations.create", `{}`, workbench.Unavailable},
			{"conversations.select", `{"id":"` + other + `"}`, workbench.Unavailable},
			{"conversations.clear", `{"id":"chat:main"}`, workbench.Unavailable},
			{"conversations.open_feed", `{"feed_id":"f1"}`, workbench.Unavailable},
			{"conversations.select", `{"id":"unknown"}`, workbench.Unavailable}, // not even refused
			{"feed.action", `{"id":"f1","action":"dismiss"}`, workbench.Unavailable},
			{"tasks.delegate", delegate("g"), workbench.Unavailable},
			{"tasks.cancel", fence(0, ""), workbench.Unavailable},
			{"presentation.set", `{"mode":"background"}`, workbench.PresentationFailed},
			{"state", `{}`, workbench.Unavailable},
		} {
			synctest.Wait()
			before, receipts := phone.frame(), len(s.records("receipt"))
			s.store.FailNext(errors.New("disk full"))
			id := "r" + c.method + c.params[:min(20, len(c.params))]
			phone.refuse(id, c.method, c.params, c.want)
			if after := phone.frame(); !bytes.Equal(after, before) {
				s.Errorf("%s %s left\n%s\nwhere there was\n%s", c.method, c.params, after, before)
			}
			if n := len(s.records("receipt")); n != receipts {
				s.Errorf("%s: %d receipts, then %d", c.method, receipts, n)
			}
		}
		// Texts still go where they went before a selection that failed.
		if err := s.SubmitText(s.Context(), "", "Still here"); err != nil {
			s.Fatal(err)
		}
		if all := s.messages(conversations.MainID); len(all) != 4 || all[3].Text != "answer to Still here" {
			s.Errorf("stored %+v", texts(all))
		}
		phone.done("rstate{}", "state", `{}`) // the same id, once the disk has room
	})
}

func TestDamagedRecordsStopNothingElse(t *testing.T) {
	const secret = "xyzzy"
	for _, c := range []struct {
		area, id, body string
		method, params string // what needs the record
		want           workbench.Refusal
	}{
		{"feed", "f1", `{"id":"f1","created_at":"` + secret + `"}`, "state", `{}`, workbench.Unavailable},
		{"feed", "f1", `{"id":"f1","title":` + secret, "feed.action", `{"id":"f1","action":"open"}`, workbench.Unavailable},
		{"feed", "f1", `["` + secret + `"]`, "conversations.open_feed", `{"feed_id":"f1"}`, workbench.Unavailable},
		{"todo", "t1", `{"version":"` + secret + `"}`, "state", `{}`, workbench.Unavailable},
		{"todo", "t1", `{"id":"t1","updated_at":"` + secret + `"}`, "life.mutate", `{"op":"undo_create","id":"t1","expected_version":1}`, workbench.Unavailable},
		{"profile", "owner", `{"about":12345678,"version":0}`, "life.mutate", `{"op":"profile","about":"a","expected_version":0}`, workbench.Unavailable},
		{"life_result", "r", secret, "life.mutate", todo, workbench.Unavailable},
		{"receipt", "r", `{"payload":"` + secret + `"}`, "conversations.select", `{"id":"chat:main"}`, workbench.Unavailable},
		{"receipt", "r", `{"payload":` + secret, "state", `{}`, workbench.Unavailable},
		{"task", "t1", `{"id":` + secret, "tasks.list", `{}`, workbench.Unavailable},
		{"task", "t1", `{"phase":7}`, "tasks.get", `{"task_id":"t1"}`, workbench.Unavailable},
		{"task", "t1", `"` + secret + `"`, "presentation.set", `{"mode":"orb"}`, workbench.PresentationFailed},
		{"task", "t1", `"` + secret + `"`, "tasks.delegate", delegate("g"), workbench.Unavailable},
	} {
		t.Run(c.area+" "+c.method, func(t *testing.T) {
			log := &logBook{}
			staged(t, func(s *stage) {
				s.putRaw(c.area, c.id, c.body)
				phone := s.phone()
				phone.refuse("r", c.method, c.params, c.want)
				if said := log.String(); !strings.Contains(said, c.method) && !strings.Contains(said, "presentation") ||
					strings.Contains(said, secret) || strings.Contains(said, "12345678") {
					s.Errorf("logged %s", said)
				}
				phone.done("next", "conversations.create", `{"title":"Next"}`)
				if s.chats("Next") != 1 {
					s.Error("another command was not carried out")
				}
			}, log.plug)
		})
	}
}

func (c *client) isPage() bool {
	var page bool
	if err := c.Deliver(c.Context(), command("who", "conversations.targets", `{}`)); err == nil {
		page = len(got[nova.PersonalResult](c)) == 1
	}
	return page
}

// frame is the client's snapshot as it is sent.
func (c *client) frame() []byte {
	c.Helper()
	state, err := c.Snapshot(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return state.Frame
}

func TestACutSnapshotIsToldOfOnce(t *testing.T) {
	book := &logBook{}
	staged(t, func(s *stage) {
		long := func(id string) {
			f := feedItem(id, "task:"+id, time.Now().Add(time.Hour))
			f.WhyNow = strings.Repeat("long ", 60<<10) // three of them do not fit
			s.put("feed", id, f)
		}
		told := func(when string, want int) {
			s.Helper()
			if got := strings.Count(book.String(), "was cut"); got != want {
				s.Errorf("%s: told %d times, want %d", when, got, want)
			}
		}
		phone := s.phone()
		phone.frame()
		told("whole", 0)
		for i := range 4 {
			long(fmt.Sprint("f", i))
		}
		for range 3 {
			phone.frame()
		}
		told("cut", 1)
		long("g")
		phone.frame()
		phone.frame()
		told("more is cut", 2)
		s.phone().frame()
		told("another phone", 3)
	}, book.plug)
}

// logBook keeps what a host logs.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logBook) plug(d *personal.Deps, _ *personal.Options) {
	d.Log = slog.New(slog.NewTextHandler(l, nil))
}
