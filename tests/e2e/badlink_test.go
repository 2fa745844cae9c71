package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaclient"
	"plexus/adapters/sqlite"
	"plexus/domain/conversations"
	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
)

// badLink is a phone far away: 200 ms each way, 20 KiB a second, and stalls.
// PLEXUS_BAD_LINK, a duration such as 45s, is for how long commands are sent; the
// state is then four times as large, and each takes half a minute.
type badLink struct {
	delay    time.Duration // one way
	rate     int           // bytes a second, one way
	work     time.Duration // how long commands are sent
	messages int           // of the chat that is selected, each of some 7 KB
}

// A link stalls now and then.
const (
	shortStall, longStall = 500 * time.Millisecond, 5 * time.Second
	stallEvery            = 200 // pieces, on average
)

func newBadLink(t *testing.T) badLink {
	t.Helper()
	l := badLink{delay: 200 * time.Millisecond, rate: 20 << 10, work: 5 * time.Second, messages: 12}
	if longer := os.Getenv("PLEXUS_BAD_LINK"); longer != "" {
		var err error
		if l.work, err = time.ParseDuration(longer); err != nil {
			t.Fatal(err)
		}
		l.messages = 60
	}
	return l
}

// through starts a proxy before to and gives its address. What it does is the same
// each time.
func (l badLink) through(t *testing.T, to string) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		work.Wait()
	})
	work.Go(func() {
		for {
			phone, err := ln.Accept()
			if err != nil {
				return // it is closed
			}
			host, err := net.Dial("tcp", to)
			if err != nil {
				_ = phone.Close()
				continue
			}
			// What waits is to wait in the host.
			_ = host.(*net.TCPConn).SetReadBuffer(128 << 10)
			work.Go(func() { l.carry(host, phone, rand.New(rand.NewPCG(1, 2))) })
			work.Go(func() { l.carry(phone, host, rand.New(rand.NewPCG(3, 4))) })
		}
	})
	return netip.MustParseAddrPort(ln.Addr().String())
}

// carry takes one direction, a piece after the other, until either side is gone.
func (l badLink) carry(to, from net.Conn, chance *rand.Rand) {
	type piece struct {
		bytes []byte
		at    time.Time // it arrives
	}
	way := make(chan piece, 16)
	var arriving sync.WaitGroup
	arriving.Go(func() {
		for p := range way {
			<-time.After(time.Until(p.at))
			if _, err := to.Write(p.bytes); err != nil {
				_ = from.Close() // the reader ends
			}
		}
		_ = to.Close()
	})
	defer arriving.Wait()
	defer close(way)
	buffer := make([]byte, 4<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		took := time.Duration(n) * time.Second / time.Duration(l.rate)
		if chance.IntN(stallEvery) == 0 {
			took += shortStall + time.Duration(chance.Int64N(int64(longStall-shortStall)))
		}
		<-time.After(took)
		way <- piece{append([]byte(nil), buffer[:n]...), time.Now().Add(l.delay)}
	}
}

// badLinkTopics are more than a snapshot shows.
const badLinkTopics = 500

// fillForBadLink stores topics, and messages for the chat.
func fillForBadLink(t *testing.T, data string, messages int) {
	t.Helper()
	if _, err := hostfiles.PrivateDir(data); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(data, hostfiles.DatabaseName), sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	err = db.Personal().Update(t.Context(), func(tx ports.PersonalTx) error {
		for n := range badLinkTopics {
			c := conversations.Conversation{
				ID: fmt.Sprintf("topic:%03d", n), Kind: conversations.Topic, Title: fmt.Sprintf("Page %d", n),
				SubjectKey: fmt.Sprintf("https://example.org/%d", n), CreatedAt: at, UpdatedAt: at,
			}
			if err := tx.PutConversation(c); err != nil {
				return err
			}
		}
		main := conversations.Conversation{ID: conversations.MainID, Kind: conversations.Chat, Title: "Chat 1", CreatedAt: at, UpdatedAt: at}
		if err := tx.PutConversation(main); err != nil {
			return err
		}
		for n := range messages {
			if _, err := tx.AddMessage(conversations.Message{
				ID: fmt.Sprintf("user:%d", n), ConversationID: main.ID, Role: conversations.User, CreatedAt: at, Status: conversations.Completed,
				Text: fmt.Sprintf("%d ", n) + strings.TrimSpace(strings.Repeat("It says a great deal about bridges. ", 200)),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// expected is what commands over a bad link have to bring, by their IDs.
type expected struct {
	receipts       int // at least
	texts, results []string
}

// TestBadLink_EverythingArrivesOnce: a phone far away with a large state and little
// bandwidth loses nothing, is not taken for dead, and does not fill the host.
func TestBadLink_EverythingArrivesOnce(t *testing.T) {
	link := newBadLink(t)
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	fillForBadLink(t, p.dataDir(), link.messages)
	d := p.serve(t, "--config", p.configure(t, modelConfig(newAnsweringModel(t).ready().URL)))
	near, _ := d.dial(t, novaclient.Flutter) // the memory for such states has been used once
	full, err := near.Personal(t.Context(), "state", struct{}{})
	if err != nil || len(full.Data) < link.messages*7_000 || len(full.Data) > workbench.MaxMobileFrame {
		t.Fatalf("the state has %d bytes, %v", len(full.Data), err)
	}
	near.Close()

	o, seen := d.phoneOptions(t), newCollected()
	o.Dial, o.Events = link.through(t, d.Client), novaclient.Events{Message: seen.put}
	conn, err := novaclient.Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	memory := watchMemory(d)
	began := time.Now()
	sent := sendOverBadLink(t, conn, began.Add(link.work))
	for _, id := range sent.results {
		told(t, seen, "the result of "+id, func(r nova.PersonalResult) bool { return r.RequestID == id })
	}
	for _, id := range sent.texts {
		told(t, seen, "the result of "+id, func(r nova.TextResult) bool { return r.RequestID == id })
	}
	select {
	case end := <-ended(conn):
		t.Errorf("the connection has ended: %v", end)
	default:
	}
	late := memory()
	sent.compare(t, seen)
	t.Logf("state %d KiB at %d KiB/s: %d commands in %v, %d states came; host memory %d KiB, then %d KiB more", len(full.Data)>>10, link.rate>>10, sent.receipts, time.Since(began).Round(time.Second), bodies(seen), late.first, late.more)
	if late.more > 8<<10 && !raceBuild {
		t.Errorf("the host has grown by %d KiB from %d", late.more, late.first)
	}
	if regexp.MustCompile(`reason=(control_capacity|output_budget|required_frame_lost|ghost_retired|slow_reader|write_failed)`).MatchString(d.logged()) {
		t.Errorf("a connection was given up:\n%s", d.logged())
	}
}

// atOnce is how many commands wait for their receipts at a time.
const atOnce = 16

// sendOverBadLink sends commands of every kind, some at a time, until then.
func sendOverBadLink(t *testing.T, conn *novaclient.Conn, until time.Time) *expected {
	t.Helper()
	e := &expected{}
	for n := 0; time.Now().Before(until); {
		var waiting sync.WaitGroup
		for range atOnce {
			control := e.next(n)
			waiting.Go(func() {
				if status, err := conn.Command(t.Context(), control); err != nil || status != nova.Applied {
					t.Errorf("a %s: %q, %v", control.Kind(), status, err)
				}
			})
			n++
		}
		waiting.Wait()
		e.receipts += atOnce
	}
	return e
}

// next is the n-th command.
func (e *expected) next(n int) nova.Control {
	id := fmt.Sprintf("bad-%d", n)
	personal := func(method, params string) nova.Control {
		e.results = append(e.results, id)
		return nova.PersonalCommand{RequestID: id, Method: method, Params: json.RawMessage(params)}
	}
	switch n % atOnce {
	case 1, 3, 5, 9, 11, 13:
		return personal("life.mutate", fmt.Sprintf(`{"op":"create","kind":"todo","title":"Thing %d"}`, n))
	case 2, 6, 10, 14:
		return personal("conversations.select", `{"id":"chat:main"}`)
	case 15:
		return personal("state", `{}`)
	}
	e.texts = append(e.texts, id)
	return nova.InputText{Text: "And now?", RequestID: id, ConversationID: fmt.Sprintf("topic:%03d", n%badLinkTopics)}
}

// compare counts what has come for each.
func (e *expected) compare(t *testing.T, seen *collected) {
	t.Helper()
	texts, results := map[string]int{}, map[string]int{}
	receipts := map[string]int{}
	for _, m := range seen.all() {
		switch m := m.(type) {
		case nova.TextResult:
			texts[m.RequestID]++
			if m.Error != "" {
				t.Errorf("text %s: %s", m.RequestID, m.Error)
			}
		case nova.PersonalResult:
			results[m.RequestID]++
			if m.Error != "" {
				t.Errorf("command %s: %s", m.RequestID, m.Error)
			}
		case nova.Receipt:
			receipts[m.RequestID]++
		}
	}
	for _, id := range e.texts {
		if texts[id] != 1 {
			t.Errorf("text %s has %d results", id, texts[id])
		}
	}
	for _, id := range e.results {
		if results[id] != 1 {
			t.Errorf("command %s has %d results", id, results[id])
		}
	}
	for id, n := range receipts {
		if n != 1 {
			t.Errorf("%s has %d receipts", id, n)
		}
	}
	if len(receipts) < e.receipts {
		t.Errorf("%d receipts for %d commands", len(receipts), e.receipts)
	}
}

// bodies counts the states that have come.
func bodies(seen *collected) (count int) {
	for _, m := range seen.all() {
		switch m := m.(type) {
		case nova.PersonalState:
			count += min(len(m.Frame), 1)
		case nova.PersonalResult:
			if len(m.Data) > 80_000 {
				count++
			}
		}
	}
	return count
}

func ended(conn *novaclient.Conn) <-chan *novaclient.End {
	end := make(chan *novaclient.End, 1)
	go func() { end <- conn.Wait() }()
	return end
}

// usage is the memory of a host, in KiB.
type usage struct{ first, more int } // the most of the first third, and how much more it was later

// watchMemory looks at a host twice a second until stop is called. Where there is
// no /proc it sees nothing.
func watchMemory(d *daemon) (stop func() usage) {
	var seen []int
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for again := time.NewTicker(500 * time.Millisecond); ; {
			seen = append(seen, d.memory())
			select {
			case <-over:
				again.Stop()
				return
			case <-again.C:
			}
		}
	}()
	return func() (u usage) {
		close(over)
		<-done
		for i, kib := range seen {
			if i <= len(seen)/3 {
				u.first = max(u.first, kib)
			}
			u.more = max(u.more, kib-u.first)
		}
		return u
	}
}

// memory is the resident size in KiB, 0 when it is not known.
func (d *daemon) memory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.Atoi(fields[0]) // the system wrote it
	return kib
}

// files is how many files a host has open, 0 when it is not known.
func (d *daemon) files() int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid)) // of Linux alone
	return len(list)
}

// goroutines ends a host with the list of its goroutines and counts them.
func (d *daemon) goroutines(t *testing.T) int {
	t.Helper()
	d.stop(t, syscall.SIGQUIT)
	return len(regexp.MustCompile(`(?m)^goroutine \d+`).FindAllString(d.logged(), -1))
}

// comings is how often the phone comes back in the middle of a turn.
const comings = 100

// TestBadLink_APhoneThatComesAndGoes: a turn ends whatever its phone does, once, and
// nothing of a hundred connections is left.
func TestBadLink_APhoneThatComesAndGoes(t *testing.T) {
	calm, _ := comeAndGo(t, 1)
	restless, d := comeAndGo(t, comings)
	t.Logf("files and goroutines after one connection %v, after %d %v", calm, comings, restless)
	if restless.files > calm.files+5 {
		t.Errorf("%d files are open after %d connections, %d after one", restless.files, comings, calm.files)
	}
	if calm.goroutines == 0 || restless.goroutines > calm.goroutines+10 {
		t.Errorf("%d goroutines run after %d connections, %d after one:\n%s", restless.goroutines, comings, calm.goroutines, d.logged())
	}
}

type leftovers struct{ files, goroutines int }

// comeAndGo lets a phone begin a turn and come back so often before it ends.
func comeAndGo(t *testing.T, times int) (leftovers, *daemon) {
	t.Helper()
	model := newAnsweringModel(t)
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	d := p.serve(t, "--config", p.configure(t, modelConfig(model.URL)))
	conn, _ := d.dial(t, novaclient.Flutter)
	if err := conn.SubmitText(t.Context(), nova.InputText{Text: "When did it open?", RequestID: "calm", ConversationID: "chat:main"}); err != nil {
		t.Fatal(err)
	}
	<-model.asked
	conn.Close()
	for n := range times {
		dialer := &lastConn{}
		o := d.phoneOptions(t)
		o.DialContext = dialer.dial
		conn, err := novaclient.Dial(t.Context(), o)
		if err != nil {
			t.Fatalf("coming %d: %v", n, err)
		}
		if n%2 == 0 { // every other time the network goes
			_ = dialer.conn.Close()
			conn.Wait()
		}
		conn.Close()
	}
	close(model.may)
	conn, seen := d.dial(t, novaclient.Flutter)
	answered := func() (count int) {
		for _, m := range snapshot(t, conn).Conversations.Messages {
			if m.Role == conversations.Assistant && m.Text == "It opened in 1931." {
				count++
			}
		}
		return count
	}
	if answered() == 0 {
		told(t, seen, "the answer", func(c nova.Caption) bool { return c.Final && c.Role == nova.Assistant })
	}
	if got := answered(); got != 1 || len(model.asked) != 0 {
		t.Errorf("the answer is stored %d times, and the model was asked %d times more", got, len(model.asked))
	}
	conn.Close()
	model.CloseClientConnections()
	left := leftovers{files: d.files()}
	for settled := time.Now().Add(5 * time.Second); runtime.GOOS == "linux" && time.Now().Before(settled); { // what has ended is being closed
		<-time.After(100 * time.Millisecond)
		left.files = min(left.files, d.files())
	}
	left.goroutines = d.goroutines(t)
	return left, d
}

// lastConn remembers what it dialled.
type lastConn struct{ conn net.Conn }

func (l *lastConn) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	l.conn, err = new(net.Dialer).DialContext(ctx, network, address)
	return l.conn, err
}
