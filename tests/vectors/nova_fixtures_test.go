package vectors_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loadNova reads one fixture file of the Nova client protocol and checks how
// many vectors it holds.
func loadNova[T any](t *testing.T, file string, want int) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "fixtures", "client-protocol", "v1", file))
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(all) != want {
		t.Fatalf("%s holds %d vectors, want %d", file, len(all), want)
	}
	return all
}

// messageVector is one entry of messages.json: one text message.
type messageVector struct {
	To, Message, Name string
	Text              string
	TextHex           string `json:"text_hex"`
	PadTo             int    `json:"pad_to"`
	Verdict           string
	Exact             bool
	Normal            string
	Fault             string
	Language          string
	Personal          bool
	Admission         string
}

func messageVectors(t *testing.T) []messageVector {
	t.Helper()
	return loadNova[messageVector](t, "messages.json", 342)
}

// bytes gives the message as it is sent.
func (v messageVector) bytes(t *testing.T) []byte {
	t.Helper()
	if v.TextHex != "" {
		return unhex(t, v.TextHex)
	}
	return []byte(v.Text + strings.Repeat(" ", max(0, v.PadTo-len(v.Text))))
}

// normal is the message as this implementation writes it, "" if the file does
// not say.
func (v messageVector) normal() string {
	if v.Exact {
		return v.Text
	}
	return v.Normal
}

// eachMessage runs check on the vectors of one kind and wants some.
func eachMessage(t *testing.T, to, message string, check func(*testing.T, messageVector)) {
	t.Helper()
	ran := 0
	for _, v := range messageVectors(t) {
		if v.To == to && v.Message == message {
			ran++
			t.Run(v.Name, func(t *testing.T) { check(t, v) })
		}
	}
	if ran == 0 {
		t.Fatalf("no vectors of %s to the %s", message, to)
	}
}

// expectVerdict compares a verdict and, if the file gives one, the normal form.
func expectVerdict(t *testing.T, v messageVector, verdict string, written []byte) {
	t.Helper()
	if verdict != v.Verdict {
		t.Fatalf("verdict %q, want %q", verdict, v.Verdict)
	}
	if want := v.normal(); verdict == "accept" && want != "" && string(written) != want {
		t.Fatalf("written\n%s\nwant\n%s", written, want)
	}
}
