package status

import (
	"strings"
	"testing"
	"time"

	"plexus/adapters/adminapi"
)

func TestStatusText(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before := now.Add(-5 * time.Minute)
	s := Report{
		Version: "v1", PID: 7, UptimeSeconds: 61, DataDir: "/d", DatabaseBytes: 3 << 20,
		Nerve:  Nerve{Address: "127.0.0.1:9001", Socket: "/d/nerve.sock", Token: "/h/token"},
		Search: Service{Kind: "searxng", URL: "https://s.example", Reach: Unreachable, Problem: "no route", Failures: Failures{2, &before, "time-out"}},
		Model: Model{Service: Service{Kind: "auto", Reach: NotFound}, Found: []FoundModel{
			{Name: "llama", Server: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Config: "[model]\nname = \"llama\"\n"},
		}},
		Index:       Index{Enabled: true, Pages: 1, Bytes: 2048, Failures: Failures{1, &before, "disk full"}},
		Kept:        Kept{Conversations: 3, Topics: 1, Messages: 12, Bytes: 4096},
		DiskFull:    &DiskFull{Unstored: 3, Last: before},
		Connections: 3,
		Queries:     Queries{Answered: 4, Answer: Latency{Count: 4, P50: 1.5, P99: 20}},
		Waiting:     []adminapi.Extension{{ID: 2, Origin: "chrome-extension://a", Digits: "0042"}},
		Refused:     []Refusal{{Peer: "https://evil.example\x1b[2J", Count: 1, Last: before, Advice: "Nothing to do."}},
	}
	got := Text(s, now)
	for _, want := range []string{
		"v1, process 7, up 1m1s", "ws://127.0.0.1:9001", "/d/nerve.sock", "/h/token", "3.0 MiB",
		"searxng at https://s.example: cannot be used: no route", "failed 2 times, last 5 min ago: time-out",
		"none found on this machine", "Ollama offers llama at http://127.0.0.1:11434/v1", "[model]", `name = "llama"`,
		"on; 1 page, 2.0 KiB of text", "failed 1 time, last 5 min ago: disk full",
		"12 in 3 conversations (1 topic); 4.0 KiB of text; what is asked in the browser is not kept", "the disk is full: 3 texts or changes could not be stored, last 5 min ago", "4 answered", "whole answer: half within 1.5 ms",
		"Extension 2 (chrome-extension://a, digits 0042)", "plexus extensions allow 0042", "https://evil.example", "Nothing to do.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	s.Kept.Browser = true
	if got := Text(s, now); strings.Contains(got, "is not kept") {
		t.Errorf("the browser's questions are kept, and it says:\n%s", got)
	}
	if strings.Contains(got, "\x1b") {
		t.Error("a stranger's origin reaches the terminal as it came")
	}
}

func TestStatusText_EveryReach(t *testing.T) {
	for reach, want := range map[Reach]string{
		Off: "off (model.kind is none)", BuiltIn: "quote the page", NotFound: "none found",
		Reachable: "llama, openai at http://m/v1: can be reached", Unreachable: "cannot be used: why",
	} {
		m := Model{Name: "llama", Service: Service{Kind: "openai", URL: "http://m/v1", Reach: reach, Problem: "why"}}
		if got := modelText(m); !strings.Contains(got, want) {
			t.Errorf("%s: %q", reach, got)
		}
	}
}

func TestStatusText_CR44_SaysThatTheLogGrows(t *testing.T) {
	const said = "write-ahead log, which does not shrink"
	s := Report{DatabaseBytes: 1 << 30, WALBytes: largeWAL}
	if got := Text(s, time.Now()); strings.Contains(got, said) {
		t.Errorf("a usual log is complained about:\n%s", got)
	}
	s.WALBytes = 900 << 20
	if got := Text(s, time.Now()); !strings.Contains(got, "900.0 MiB of it are its "+said) {
		t.Errorf("got:\n%s", got)
	}
}
