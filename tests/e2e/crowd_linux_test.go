package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"plexus/domain/framing"
)

// answersInTime asks a listener for its health, within what it has for the headers of a
// request.
func answersInTime(t *testing.T, name, addr string) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + addr + "/healthz")
	if err != nil {
		t.Errorf("the %s: %v", name, err)
		return
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || strings.TrimSpace(string(body)) != "ok" {
		t.Errorf("the %s answers %d %q, %v", name, resp.StatusCode, body, err)
	}
}

// TestG17_ACrowdAtOneDoorClosesNoOther: with 1,024 files for the process, more sockets
// than that at one listener, which say nothing or are slow with their headers, keep
// nobody from any listener.
func TestG17_ACrowdAtOneDoorClosesNoOther(t *testing.T) {
	p := newPlace(t, extractive)
	p.files = 1024
	d := p.serve(t)
	doors := map[string]string{"NERVE listener": d.Nerve, "client listener": d.Client, "owner's page": d.Admin}
	const crowd = 1500
	for name, addr := range doors {
		t.Run(name, func(t *testing.T) {
			var held []net.Conn
			defer func() {
				for _, conn := range held {
					_ = conn.Close()
				}
			}()
			for i := range crowd {
				conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
				if err != nil {
					t.Fatalf("socket %d: %v", i, err)
				}
				held = append(held, conn)
				if i%2 == 0 { // slow; the others are silent
					_, _ = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nX-Slow: ", addr) // it may be closed already
				}
			}
			if n := d.files(); n > 1024*9/10 {
				t.Errorf("%d of 1024 files are open", n)
			}
			for other, addr := range doors {
				answersInTime(t, other, addr)
			}
		})
	}
	if log := d.logged(); strings.Count(log, "too many open files") > 1 {
		t.Errorf("the log is full of it:\n%s", log)
	}
}

// TestG17_QueriesInFlightAreBounded: 100 connections with 9 queries of 0.9 MB each and a
// model that does not answer stay below 400 MiB; once it does, every query is answered.
func TestG17_QueriesInFlightAreBounded(t *testing.T) {
	gate := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`)
	}))
	defer model.Close()
	p := newPlace(t, "PLEXUS_LIMITS_MODEL_FIRST_BYTE=10m", "PLEXUS_LIMITS_MODEL_TOTAL=10m", "PLEXUS_LIMITS_GENERATIONS=8")
	d := p.serve(t, "--config", p.configure(t, modelConfig(model.URL)))
	payload := framing.AppendSearchQuery(nil, framing.SearchQuery{
		Query: "Is it?", Context: framing.PageContext{Extract: strings.Repeat("It is so. ", 90_000)}, MaxResults: 1,
	})
	const connections, queries = 100, 9
	var working sync.WaitGroup
	finals := make(chan uint64, connections*queries)
	for range connections {
		conn, err := net.Dial("unix", d.NerveSocket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		working.Go(func() {
			for id := range uint64(queries) {
				frame, err := framing.AppendFrame(nil, framing.SearchQueryMsg, framing.Final, id, payload)
				if err == nil {
					_, err = conn.Write(frame)
				}
				if err != nil {
					t.Errorf("write: %v", err)
					return
				}
			}
		})
		working.Go(func() { readFinals(conn, queries, finals) })
	}
	highest := 0
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for range 30 { // it fills within a second or two
		<-look.C
		highest = max(highest, d.memory())
	}
	close(gate)
	for n := range connections * queries {
		select {
		case <-finals:
		case <-time.After(4 * time.Minute):
			t.Fatalf("%d of %d queries were answered", n, connections*queries)
		}
	}
	working.Wait()
	highest = max(highest, d.memory())
	t.Logf("%d MiB at most", highest>>10)
	if !raceBuild && highest > 400<<10 { // the detector takes several times the memory
		t.Errorf("%d MiB resident, want 400 at most", highest>>10)
	}
}

// readFinals reports the ends of so many answers.
func readFinals(conn net.Conn, n int, finals chan<- uint64) {
	header := make([]byte, framing.HeaderSize)
	for n > 0 {
		if _, err := io.ReadFull(conn, header); err != nil {
			return
		}
		h, err := framing.ParseHeader(header)
		if err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, conn, int64(h.PayloadLength)); err != nil {
			return
		}
		if h.Type == framing.AiTokenMsg && h.Flags&framing.Final != 0 {
			finals <- h.RequestID
			n--
		}
	}
}
