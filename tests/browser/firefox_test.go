//go:build firefox

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// firefoxUUID is the internal id that the test's profile gives the extension;
// without it Firefox makes one up per installation.
const firefoxUUID = "6f2e1c1a-6d0e-4d0c-9b53-0d5c7a1f2b3c"

// firefox is a headless Firefox, spoken to over WebDriver BiDi, which it has
// built in.
type firefox struct {
	t    *testing.T
	conn *websocket.Conn
	next int
}

func launchFirefox(t *testing.T) *firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		if path, err = exec.LookPath("firefox"); err != nil {
			t.Fatal("no Firefox found: this test, asked for by -tags firefox, needs one")
		}
	}
	profile := t.TempDir()
	uuids, _ := json.Marshal(fmt.Sprintf(`{"panel@plexus.local":%q}`, firefoxUUID))
	prefs := fmt.Sprintf("user_pref(\"extensions.webextensions.uuids\", %s);\n", uuids)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "--remote-allow-system-access")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := make(chan string, 1)
	go func() {
		buffer, seen := make([]byte, 4096), ""
		for {
			n, err := stderr.Read(buffer)
			seen += string(buffer[:n])
			if m := regexp.MustCompile(`listening on (ws://\S+)\s`).FindStringSubmatch(seen); m != nil && len(address) == 0 {
				address <- m[1]
			}
			if err != nil {
				return
			}
		}
	}()
	conn, _, err := websocket.Dial(t.Context(), receive(t, "Firefox's address", address)+"/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 22)
	f := &firefox{t: t, conn: conn}
	f.call("session.new", map[string]any{"capabilities": map[string]any{}})
	return f
}

// call sends one BiDi command and gives its result.
func (f *firefox) call(method string, params any) map[string]any {
	f.t.Helper()
	f.next++
	ctx, cancel := context.WithTimeout(f.t.Context(), waitAtMost)
	defer cancel()
	command := asJSON(f.t, map[string]any{"id": f.next, "method": method, "params": params})
	if err := f.conn.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
		f.t.Fatal(err)
	}
	for {
		_, text, err := f.conn.Read(ctx)
		if err != nil {
			f.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID             int
			Error, Message string
			Result         map[string]any
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			f.t.Fatal(err)
		}
		if answer.ID != f.next {
			continue // an event
		}
		if answer.Error != "" {
			f.t.Fatalf("%s: %s: %s", method, answer.Error, answer.Message)
		}
		return answer.Result
	}
}

// eval runs an expression in a page and gives its value as text.
func (f *firefox) eval(tab any, expression string) string {
	f.t.Helper()
	result := f.call("script.evaluate", map[string]any{
		"expression": "(async () => String(await (" + expression + ")))()", "awaitPromise": true, "target": map[string]any{"context": tab},
	})
	value, ok := result["result"].(map[string]any)
	if !ok {
		f.t.Fatalf("%s: %v", expression, result)
	}
	text, _ := value["value"].(string)
	return text
}

func (f *firefox) wait(tab any, expression string) {
	f.t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(waitAtMost); time.Now().Before(deadline); <-ticker.C {
		if f.eval(tab, expression) == "true" {
			return
		}
	}
	f.t.Fatalf("never true: %s\nthe page says:\n%s", expression, f.eval(tab, "document.body.innerText"))
}

// TestFirefoxJourney: the same source in Firefox tells not running from not
// allowed, is let in by its own row, asks and shows the answer.
func TestFirefoxJourney(t *testing.T) {
	model := newStubModel(t)
	host := newPlexus(t, model.config())
	host.start()
	host.stop()
	f := launchFirefox(t)
	dir, err := filepath.Abs(extensionDir)
	if err != nil {
		t.Fatal(err)
	}
	f.call("webExtension.install", map[string]any{"extensionData": map[string]any{"type": "path", "path": dir}})
	tab := f.call("browsingContext.create", map[string]any{"type": "tab"})["context"]
	f.call("browsingContext.navigate", map[string]any{"context": tab, "url": "moz-extension://" + firefoxUUID + "/panel.html", "wait": "complete"})
	f.eval(tab, fmt.Sprintf("browser.storage.local.set({address: 'ws://%s'})", host.nerve))
	f.wait(tab, `document.querySelector("#notice-title").textContent === "Plexus is not running"`)
	host.start()
	f.wait(tab, `document.querySelector("#notice-title").textContent === "Not allowed yet"`)
	host.run("extensions", "allow", "moz-extension://"+firefoxUUID)
	f.wait(tab, `document.querySelector("#status").textContent === "Connected"`)
	f.eval(tab, `(document.querySelector("#question").value = "When?", document.querySelector("#composer").requestSubmit())`)
	receive(t, "a question to the model", model.asked)
	model.say <- "In 1931."
	f.wait(tab, `document.querySelector("#answer").textContent === "In 1931."`)
	model.say <- ""
	f.wait(tab, `document.querySelector("#answer").getAttribute("aria-busy") === "false"`)
}
