package main

import (
	"strings"
	"testing"
	"time"

	"plexus/adapters/adminapi"
)

func TestStatusText(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before := now.Add(-5 * time.Minute)
	s := adminapi.Status{
		Version: "v1", PID: 7, UptimeSeconds: 61, DataDir: "/d", DatabaseBytes: 3 << 20,
		Nerve:  adminapi.Listeners{Address: "127.0.0.1:9001", Socket: "/d/nerve.sock", Token: "/h/token"},
		Search: adminapi.Service{Kind: "searxng", URL: "https://s.example", Reach: adminapi.Unreachable, Problem: "no route", Failures: 2, LastFailure: &before, LastCause: "time-out"},
		Model: adminapi.Model{Service: adminapi.Service{Kind: "auto", Reach: adminapi.NotFound}, Found: []adminapi.Found{
			{Name: "llama", Server: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Config: "[model]\nname = \"llama\"\n"},
		}},
		Index:       adminapi.Index{Enabled: true, Pages: 1, Bytes: 2048, Failures: 1, LastFailure: &before, LastCause: "disk full"},
		Kept:        adminapi.Kept{Conversations: 3, Topics: 1, Messages: 12, Bytes: 4096},
		Connections: 3,
		Queries:     adminapi.Queries{Answered: 4, Answer: adminapi.Latency{Count: 4, P50: 1.5, P99: 20}},
		Waiting:     []adminapi.Extension{{ID: 2, Origin: "chrome-extension://a", Digits: "0042"}},
		Refused:     []adminapi.Refusal{{Peer: "https://evil.example\x1b[2J", Count: 1, Last: before, Advice: "Nothing to do."}},
	}
	got := statusText(s, now)
	for _, want := range []string{
		"v1, process 7, up 1m1s", "ws://127.0.0.1:9001", "/d/nerve.sock", "/h/token", "3.0 MiB",
		"searxng at https://s.example: cannot be reached: no route", "failed 2 times, last 5 min ago: time-out",
		"none found on this machine", "Ollama offers llama at http://127.0.0.1:11434/v1", "[model]", `name = "llama"`,
		"on; 1 page, 2.0 KiB of text", "failed 1 time, last 5 min ago: disk full",
		"12 in 3 conversations (1 topic); 4.0 KiB of text; what is asked in the browser is not kept", "4 answered", "whole answer: half within 1.5 ms",
		"Extension 2 (chrome-extension://a, digits 0042)", "plexus extensions allow 0042", "https://evil.example", "Nothing to do.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	s.Kept.Browser = true
	if got := statusText(s, now); strings.Contains(got, "is not kept") {
		t.Errorf("the browser's questions are kept, and it says:\n%s", got)
	}
	if strings.Contains(got, "\x1b") {
		t.Error("a stranger's origin reaches the terminal as it came")
	}
}

func TestStatusText_EveryReach(t *testing.T) {
	for reach, want := range map[adminapi.Reach]string{
		adminapi.Off: "off (model.kind is none)", adminapi.BuiltIn: "quote the page", adminapi.NotFound: "none found",
		adminapi.Reachable: "llama, openai at http://m/v1: can be reached", adminapi.Unreachable: "cannot be reached: why",
	} {
		m := adminapi.Model{Name: "llama", Service: adminapi.Service{Kind: "openai", URL: "http://m/v1", Reach: reach, Problem: "why"}}
		if got := modelText(m); !strings.Contains(got, want) {
			t.Errorf("%s: %q", reach, got)
		}
	}
}

func TestStatusText_CR44_SaysThatTheLogGrows(t *testing.T) {
	const said = "write-ahead log, which does not shrink"
	s := adminapi.Status{DatabaseBytes: 1 << 30, WALBytes: largeWAL}
	if got := statusText(s, time.Now()); strings.Contains(got, said) {
		t.Errorf("a usual log is complained about:\n%s", got)
	}
	s.WALBytes = 900 << 20
	if got := statusText(s, time.Now()); !strings.Contains(got, "900.0 MiB of it are its "+said) {
		t.Errorf("got:\n%s", got)
	}
}

func TestGreeting_SaysWhatToDoNext(t *testing.T) {
	got := greeting("127.0.0.1:9010", "127.0.0.1:9001", "/h/token")
	for _, want := range []string{"ws://127.0.0.1:9001", "chrome://extensions", "web/extension", "plexus extensions allow DIGITS", "/h/token", "Ctrl-C"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestGreeting_SendsTheExtensionToAnotherAddress(t *testing.T) {
	if got := greeting("127.0.0.1:9010", "127.0.0.1:9001", "/h/token"); strings.Contains(got, "into its settings") {
		t.Errorf("the usual address is to be put into the settings:\n%s", got)
	}
	if got := greeting("127.0.0.1:9010", "127.0.0.1:4242", "/h/token"); !strings.Contains(got, "First put the address above into its settings") {
		t.Errorf("an unusual address is not to be put into the settings:\n%s", got)
	}
}
