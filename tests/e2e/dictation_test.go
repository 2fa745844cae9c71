package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/doctor"
	"plexus/domain/nova"
	"plexus/domain/pcm"
	"plexus/tests/program"
)

// hear is the recogniser of these tests, in a process of its own: the test binary
// with that first argument. It gives its exit code.
func hear(how, file string) int {
	content, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	samples, err := pcm.ParseWAV(content)
	switch {
	case err != nil || pcm.Check(samples) != nil:
		return 1
	case how == "hangs":
		<-time.After(time.Hour) // it is killed long before
	case how == "fails":
		return 1
	}
	fmt.Printf("When did it open after %d ms?\n", pcm.Duration(len(samples)).Milliseconds())
	return 0
}

// hearsLine is the first argument of hear.
const hearsLine = "-hear-"

// speechConfig are a model at url, "" for none, and the recogniser that does so,
// "" for none.
func speechConfig(t *testing.T, url, how string) string {
	t.Helper()
	config := "language = \"en\"\n[model]\nkind = \"extractive\"\n"
	if url != "" {
		config = "language = \"en\"\n" + modelConfig(url)
	}
	if how != "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		config += fmt.Sprintf("[recognizer]\nkind = \"command\"\ncommand = [%q, %q]\n", self, hearsLine+how)
	}
	return config
}

// serveSpeech starts a host with them.
func serveSpeech(t *testing.T, url, how string) *daemon {
	t.Helper()
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	return p.serve(t, "--config", p.configure(t, speechConfig(t, url, how)))
}

// speech is a WAV file with a tone of half a second.
func speech(t *testing.T) (path string) {
	t.Helper()
	var samples []byte
	for i := range pcm.Rate / 2 {
		level := int16(8000 * math.Sin(2*math.Pi*440*float64(i)/pcm.Rate))
		samples = append(samples, byte(level), byte(level>>8))
	}
	path = filepath.Join(t.TempDir(), "speech.wav")
	if err := os.WriteFile(path, pcm.AppendWAV(nil, samples), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// offers connects as both apps and compares what the host offers.
func offers(t *testing.T, d *daemon, text, dictation bool) {
	t.Helper()
	both := text && dictation
	pipeline := nova.Pipeline("")
	if both {
		pipeline = nova.Cascaded
	}
	for _, profile := range []novaclient.Profile{novaclient.Flutter, novaclient.IOS} {
		conn, seen := d.dial(t, profile)
		if r := conn.Ready(); r.Pipeline != pipeline || r.TextInput != both || r.Dictation != both {
			t.Errorf("profile %d: ready is %+v", profile, r)
		}
		if text {
			takes := told(t, seen, "desktop.capabilities", func(nova.DesktopCapabilities) bool { return true })
			if !takes.TextInput || takes.Dictation != dictation {
				t.Errorf("profile %d: the host takes %+v", profile, takes)
			}
		} else if _, err := conn.Command(t.Context(), nova.InputText{Text: "x"}); err != nil { // by now it would have come
			t.Error(err)
		}
		if conn.ShowsText() != both {
			t.Errorf("profile %d: an app shows its text box: %v", profile, !both)
		}
		for _, m := range seen.all() {
			if takes, ok := m.(nova.DesktopCapabilities); ok && !text {
				t.Errorf("profile %d: the host takes %+v", profile, takes)
			}
		}
		conn.Close()
	}
}

// explains looks for words in what doctor and status say of it.
func explains(t *testing.T, d *daemon, level doctor.Level, advice, status string) {
	t.Helper()
	if f := d.findings(t, 1)["dictation"]; f.Level != level || !strings.Contains(f.Detail, advice) { // the public name leads nowhere here
		t.Errorf("doctor: %+v; want %q", f, advice)
	}
	if got := d.plexus(t, "status"); !strings.Contains(got.stdout, status) {
		t.Errorf("no %q in the status:\n%s", status, got.stdout)
	}
}

// TestDictation_ToAnAnswer: with a model and a program that hears, apps show their
// text box, and what is said becomes a text and gets an answer.
func TestDictation_ToAnAnswer(t *testing.T) {
	model := newAnsweringModel(t).ready()
	d := serveSpeech(t, model.URL, "well")
	offers(t, d, true, true)
	explains(t, d, doctor.OK, "text and dictation", "phones are offered text and dictation")

	phone := d.phone(t)
	if e := phone.Shows("ready", "of the connection", program.Any); e.Pipeline != string(nova.Cascaded) || !e.TextInput || !e.Dictation {
		t.Errorf("ready is %+v", e)
	}
	if e := phone.Shows("input", "of the host", program.Any); !e.TextBox || !e.TextInput || !e.Dictation {
		t.Errorf("the input is %+v", e)
	}
	phone.Says("/dictate " + speech(t))
	const words = "When did it open after 500 ms?"
	if e := phone.Shows("transcription", "of the speech", program.Any); !e.OK || e.Text != words {
		t.Errorf("the transcription is %+v", e)
	}
	phone.Says("/send")
	if e := phone.Shows("text", "with its outcome", program.Any); !e.OK {
		t.Errorf("the text: %+v", e)
	}
	phone.Shows("caption", "with the answer", func(e program.Event) bool {
		return e.Final && e.Role == "assistant" && e.FullText == "It opened in 1931."
	})
	if prompt := <-model.asked; !strings.Contains(prompt, words) {
		t.Errorf("the model was asked %s", prompt)
	}
}

// TestDictation_Without: what is missing is not offered, and told in words.
func TestDictation_Without(t *testing.T) {
	model := newAnsweringModel(t).ready()
	d := serveSpeech(t, model.URL, "")
	offers(t, d, true, false)
	explains(t, d, doctor.Warning, "Nothing turns speech into text. Phone apps show their text box only when dictation works", "Phone apps show their text box only when dictation works")

	d = serveSpeech(t, "", "well")
	offers(t, d, false, false)
	explains(t, d, doctor.Skipped, "There is no model, so phones are offered neither text nor dictation", "neither text nor dictation, because there is no model")
}

// TestDictation_RecognizerFails: the phone is told and goes on.
func TestDictation_RecognizerFails(t *testing.T) {
	for _, how := range []string{"fails", "hangs"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel() // the one that hangs takes 30 s
			d := serveSpeech(t, newAnsweringModel(t).ready().URL, how)
			phone := d.phone(t)
			phone.Says("/dictate " + speech(t))
			if e := phone.Shows("transcription", "of the speech", program.Any); e.OK || e.Error != novaclient.ErrNotRecognized.Error() {
				t.Errorf("the transcription is %+v", e)
			}
			phone.Says("When did it open?")
			if e := phone.Shows("text", "with its outcome", program.Any); !e.OK {
				t.Errorf("the text: %+v", e)
			}
			phone.Shows("caption", "with the answer", func(e program.Event) bool { return e.Final && e.FullText == "It opened in 1931." })
		})
	}
}
