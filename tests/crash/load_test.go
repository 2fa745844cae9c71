package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plexus/adapters/adminapi"
	"plexus/adapters/nerveclient"
	"plexus/domain/admission"
	"plexus/domain/framing"
)

// What works on one daemon at the same time.
const (
	clients = 3 // of each transport
	askers  = 3 // on each connection
)

// load is the work that is going on when a life ends.
type load struct {
	t       *testing.T
	d       *daemon
	o       *oracle
	ending  atomic.Bool // from now on everything may fail
	working sync.WaitGroup
}

func startLoad(t *testing.T, d *daemon, o *oracle, seed uint64) *load {
	l := &load{t: t, d: d, o: o}
	token := admission.NewSecret(o.token)
	for n := range 2 * clients {
		l.working.Go(func() {
			client, err := d.dialUnix(t.Context())
			if n%2 == 1 {
				client, err = d.handshake(t.Context(), "", token)
			}
			if err != nil {
				l.excuse("connecting", err)
				return
			}
			l.askOn(client, rand.New(rand.NewPCG(seed, uint64(n))))
		})
	}
	random := rand.New(rand.NewPCG(seed, 2*clients))
	l.working.Go(func() { l.repeat("deciding", func() error { return l.decide(random) }) })
	l.working.Go(func() { l.repeat("listing", l.list) })
	return l
}

// kill ends the life in the middle of all the work and waits for its echo.
func (l *load) kill() {
	l.ending.Store(true)
	l.d.kill(l.t)
	l.working.Wait()
}

// excuse takes any error once the end has begun.
func (l *load) excuse(doing string, err error) {
	if !l.ending.Load() {
		l.t.Errorf("%s, before the kill: %v", doing, err)
	}
}

func (l *load) repeat(doing string, work func() error) {
	for !l.ending.Load() {
		if err := work(); err != nil {
			l.excuse(doing, err)
			return
		}
	}
}

// askOn asks about page after page, several at a time, and sometimes again
// about one that has grown since.
func (l *load) askOn(client *nerveclient.Client, random *rand.Rand) {
	defer client.Close() // the other end is gone
	var asking sync.WaitGroup
	for range askers {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		var known []pageKey
		asking.Go(func() {
			l.repeat("asking", func() error {
				if len(known) > 0 && own.IntN(5) == 0 {
					return l.ask(client, known[own.IntN(len(known))], 1+own.IntN(20), false)
				}
				k := l.o.newPage("")
				known = append(known, k)
				return l.ask(client, k, 0, own.IntN(4) == 0)
			})
		})
	}
	asking.Wait()
}

// ask sends one question about a page and records its FINAL.
func (l *load) ask(client *nerveclient.Client, k pageKey, revision int, search bool) error {
	page := k.context(revision)
	l.o.sent(k, len(page.Extract))
	number := l.o.asks(k)
	var answer strings.Builder
	err := client.Ask(l.t.Context(), framing.SearchQuery{
		Query: k.words(number), Context: page, Search: search, MaxResults: 3,
	}, nerveclient.Receiver{Token: func(piece string, final bool) {
		answer.WriteString(piece)
		if final {
			l.o.final(k)
			l.o.shownWhole(number, answer.String())
		}
	}})
	if err == nil && !strings.Contains(answer.String(), k.marker()) {
		err = fmt.Errorf("page %d was answered with %q", k.number, answer.String())
	}
	return err
}

// decide lets one new extension ask and lives through one course of the
// owner's decisions about it.
func (l *load) decide(random *rand.Rand) error {
	key := newKey(random)
	origin := l.o.newExtension(key)
	if client, err := l.d.handshake(l.t.Context(), origin, key); err == nil {
		return errors.Join(errors.New("a stranger was let in"), client.Close())
	} else if !strings.Contains(err.Error(), "403") {
		return err
	}
	admin := l.d.admin()
	id, err := rowOf(l.t.Context(), admin, origin)
	if err != nil {
		return err
	}
	l.o.decided(origin, id)
	courses := [][]admission.State{
		{admission.Allowed}, {admission.Blocked}, {admission.Allowed, admission.Blocked},
		{admission.Allowed, admission.Blocked, admission.Allowed}, {admission.Allowed, noRow},
	}
	for _, state := range courses[random.IntN(len(courses))] {
		l.o.wants(origin, state)
		if err := carryOut(l.t.Context(), admin, id, state); err != nil {
			return err
		}
		l.o.decided(origin, id)
		if state == admission.Allowed {
			if err := l.askAs(origin, key); err != nil {
				return err
			}
		}
	}
	return nil
}

func newKey(random *rand.Rand) admission.Secret {
	part := random.Uint64
	return admission.NewSecret(fmt.Sprintf("%016x%016x%016x%016x", part(), part(), part(), part()))
}

func rowOf(ctx context.Context, admin *adminapi.Client, origin string) (int64, error) {
	rows, err := admin.Extensions(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if row.Origin == origin && row.State == string(admission.Waiting) {
			return row.ID, nil
		}
	}
	return 0, errors.New("the handshake is not in the list")
}

func carryOut(ctx context.Context, admin *adminapi.Client, id int64, state admission.State) error {
	var row adminapi.Extension
	var err error
	switch state {
	case admission.Allowed:
		row, err = admin.AllowExtension(ctx, id)
	case admission.Blocked:
		row, err = admin.RemoveExtension(ctx, id)
	default:
		err = admin.ForgetExtension(ctx, id)
	}
	if err == nil && row.State != string(state) {
		err = fmt.Errorf("row %d was to be %q and is %q", id, state, row.State)
	}
	return err
}

// askAs brings a page under the extension's own origin.
func (l *load) askAs(origin string, key admission.Secret) error {
	client, err := l.d.handshake(l.t.Context(), origin, key)
	if err != nil {
		return err
	}
	defer client.Close() // the answer is complete
	return l.ask(client, l.o.newPage(origin), 0, true)
}

// list reads the lists while others write them.
func (l *load) list() error {
	_, errPages := l.d.admin().Pages(l.t.Context(), 100)
	_, errExtensions := l.d.admin().Extensions(l.t.Context())
	return errors.Join(errPages, errExtensions)
}

func (d *daemon) dialUnix(ctx context.Context) (*nerveclient.Client, error) {
	return nerveclient.DialUnix(ctx, d.run.NerveSocket)
}

// handshake connects by WebSocket: with the host token and no origin as a tool does,
// or as an extension with its key.
func (d *daemon) handshake(ctx context.Context, origin string, key admission.Secret) (*nerveclient.Client, error) {
	return nerveclient.DialWebSocket(ctx, "ws://"+d.run.Nerve, nerveclient.Options{Token: key, Origin: origin})
}

// notFound searches for pages by a word of theirs and gives those that do not
// come back.
func (d *daemon) notFound(t *testing.T, wanted []pageKey) (missing []pageKey) {
	t.Helper()
	client, err := d.dialUnix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() // all answers are complete
	for _, k := range wanted {
		found := false
		err := client.Ask(t.Context(), framing.SearchQuery{Query: k.marker(), Search: true, MaxResults: 2},
			nerveclient.Receiver{Results: func(r framing.SearchResult) {
				found = len(r.Results) == 1 && r.Results[0].URL == k.url()
			}})
		if err != nil {
			t.Fatalf("searching after a crash: %v", err)
		}
		if !found {
			missing = append(missing, k)
		}
	}
	return missing
}
