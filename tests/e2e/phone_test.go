package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"plexus/adapters/adminapi"
	"plexus/domain/nova"
	"plexus/domain/secret"
)

const publicURL = "wss://box.tail1234.ts.net"

// invitation is a running `plexus pair`.
type invitation struct {
	cmd    *exec.Cmd
	text   string // what the code on the screen says
	server string // as it stands there in clear
	code   string
	lines  *bufio.Scanner
	stderr strings.Builder
}

// invite runs `plexus pair`, reads the code off its screen and leaves it waiting.
func (p place) invite(t *testing.T, args ...string) *invitation {
	t.Helper()
	i := &invitation{cmd: p.command(t, append([]string{"pair"}, args...)...)}
	i.cmd.Stderr = &i.stderr
	stdout, err := i.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = i.cmd.Process.Kill() // most tests have ended it already
		_ = i.cmd.Wait()
	})
	i.lines = bufio.NewScanner(stdout)
	var drawn []string
	for i.lines.Scan() {
		line := i.lines.Text()
		if strings.ContainsAny(line, "█▀▄") {
			drawn = append(drawn, line)
		}
		if _, server, ok := strings.Cut(line, "will connect to "); ok {
			i.server = server
		}
		if strings.Contains(line, "Waiting") {
			break
		}
	}
	i.text = readScreen(t, drawn)
	var payload struct{ Type, Server, Code string }
	if err := json.Unmarshal([]byte(i.text), &payload); err != nil || payload.Type != "nova.pair" || payload.Server != i.server {
		t.Fatalf("the code says %q and the screen %q: %v", i.text, i.server, err)
	}
	i.code = payload.Code
	return i
}

// wait reads to the end of the command.
func (i *invitation) wait(t *testing.T) result {
	t.Helper()
	var rest strings.Builder
	for i.lines.Scan() {
		rest.WriteString(i.lines.Text() + "\n")
	}
	_ = i.cmd.Wait() // the code tells
	return result{rest.String(), i.stderr.String(), i.cmd.ProcessState.ExitCode()}
}

// readScreen decodes a code from the half blocks of a terminal that writes light
// on dark, as a camera sees them. Who holds one turns it: now and then, one code in
// some hundred, a reader takes other dark spots for the corners.
func readScreen(t *testing.T, lines []string) string {
	t.Helper()
	if len(lines) == 0 {
		t.Fatal("no code was drawn")
	}
	var problem error
	for _, turned := range []bool{false, true} {
		bitmap, err := gozxing.NewBinaryBitmapFromImage(picture(lines, turned))
		if err != nil {
			t.Fatal(err)
		}
		read, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
		if err == nil {
			return read.GetText()
		}
		problem = err
	}
	t.Fatalf("no camera reads this code: %v\n%s", problem, strings.Join(lines, "\n"))
	return ""
}

// picture is of a terminal, or of one that lies on its side.
func picture(lines []string, turned bool) image.Image {
	const margin, wide, high = 40, 8, 16
	width, height := 2*margin+wide*len([]rune(lines[0])), 2*margin+high*len(lines)
	size := max(width, height)
	img := image.NewGray(image.Rect(0, 0, size, size))
	for row, line := range lines {
		for column, r := range []rune(line) {
			for y := range high {
				if r != '█' && !(r == '▀' && y < high/2) && !(r == '▄' && y >= high/2) {
					continue
				}
				for x := range wide {
					across, down := margin+wide*column+x, margin+high*row+y
					if turned {
						across, down = size-1-down, across
					}
					img.SetGray(across, down, color.Gray{230})
				}
			}
		}
	}
	return img
}

// exchange says one thing on a path of the client listener and reads the answer.
func (d *daemon) exchange(t *testing.T, path, message string) string {
	t.Helper()
	ws := d.dialClient(t, path)
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
	_, answer, err := ws.Read(t.Context())
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, d.logged())
	}
	_ = ws.CloseNow() // few pairings may be open at once
	return string(answer)
}

func (d *daemon) dialClient(t *testing.T, path string) *websocket.Conn {
	t.Helper()
	host := strings.TrimPrefix(publicURL, "wss://")
	if strings.HasPrefix(path, "/client/pair-admin") { // for this machine alone
		host = d.Client
	}
	ws, _, err := websocket.Dial(t.Context(), "ws://"+d.Client+path, &websocket.DialOptions{Host: host})
	if err != nil {
		t.Fatalf("%v\n%s", err, d.logged())
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// redeem pairs a phone and gives its token and ID.
func (d *daemon) redeem(t *testing.T, code, name string) (token, id string) {
	t.Helper()
	answer := d.exchange(t, "/client/pair", `{"type":"pair.redeem","code":"`+code+`","device_name":"`+name+`"}`)
	var ready struct {
		Type, Token string
		DeviceID    string `json:"device_id"`
	}
	if err := json.Unmarshal([]byte(answer), &ready); err != nil || ready.Type != "pair.ready" {
		t.Fatalf("redeem was answered %s, %v", answer, err)
	}
	return ready.Token, ready.DeviceID
}

// hello connects as a phone. code is 0 when it is in.
func (d *daemon) hello(t *testing.T, token string) (ws *websocket.Conn, code websocket.StatusCode) {
	t.Helper()
	ws = d.dialClient(t, "/client/v1")
	message, err := nova.AppendHello(nil, nova.Hello{Token: secret.New(token), Media: []string{nova.RelayTransport}, Language: nova.English})
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Write(t.Context(), websocket.MessageText, message); err != nil {
		t.Fatal(err)
	}
	_, first, err := ws.Read(t.Context())
	if err != nil {
		return ws, websocket.CloseStatus(err)
	}
	ready, err := nova.DecodeMessage(first)
	if err != nil || ready.Type() != "client.ready" {
		t.Fatalf("the first message is %s", first)
	}
	settle(t, ws, ready.(nova.Ready).ConnectionID)
	return ws, 0
}

// settle waits for a receipt: by then the host has taken the phone in.
func settle(t *testing.T, ws *websocket.Conn, connection string) {
	t.Helper()
	command, err := nova.AppendCommand(nil, "settle", connection, nova.InputAudio{})
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Write(t.Context(), websocket.MessageText, command); err != nil {
		t.Fatal(err)
	}
	for {
		_, text, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"settle"`) {
			return
		}
	}
}

// ends reads until the host closes the connection.
func ends(t *testing.T, ws *websocket.Conn) websocket.StatusCode {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	for {
		if _, _, err := ws.Read(ctx); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				t.Fatalf("it ended without a close frame: %v", err)
			}
			return closed.Code
		}
	}
}

func (d *daemon) devices(t *testing.T) []adminapi.Device {
	t.Helper()
	var list []adminapi.Device
	got := d.plexus(t, "devices", "list", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil {
		t.Fatalf("%v in %s%s", err, got.stdout, got.stderr)
	}
	return list
}

func TestPair_WithNothingConfigured(t *testing.T) {
	d := newPlace(t).serve(t)
	if got := d.plexus(t, "pair"); got.code != 1 || !strings.Contains(got.stderr, "--public-url") || got.stdout != "" {
		t.Errorf("without an address: %+v", got)
	}
	for _, bad := range []string{"wss://127.0.0.1/client/v1", "ws://x.example/client/v1", "wss://x.example/other", "wss://u:pw@x.example/client/v1", "wss://x.example/client/v1?c=1"} {
		if got := d.plexus(t, "pair", "--public-url", bad); got.code != 2 || got.stdout != "" || strings.Contains(got.stderr, "pw@") {
			t.Errorf("%s: %+v", bad, got)
		}
	}
	i := d.invite(t, "--public-url", publicURL+":8443")
	if i.server != publicURL+":8443/client/v1" {
		t.Errorf("the destination is %q", i.server)
	}
	if status := d.plexus(t, "status").stdout; !strings.Contains(status, "an invitation is open") || !strings.Contains(status, publicURL+":8443") {
		t.Errorf("status:\n%s", status)
	}
	if status := d.plexus(t, "status", "--json").stdout; strings.Contains(status, `"public_url"`) {
		t.Errorf("an address that no phone has used is remembered:\n%s", status)
	}
	token, id := d.redeem(t, i.code, "Ada's phone")
	if got := i.wait(t); got.code != 0 || !strings.Contains(got.stdout, "Paired with Ada's phone") || !strings.Contains(got.stdout, id) {
		t.Errorf("pair ended as %+v", got)
	}
	if list := d.devices(t); len(list) != 1 || list[0].ID != id || list[0].FirstConnectedAt != nil || list[0].Connected {
		t.Errorf("devices %+v", list)
	}
	if _, code := d.hello(t, token); code != 0 {
		t.Fatalf("the phone is refused with %d", code)
	}
	if list := d.devices(t); len(list) != 1 || list[0].FirstConnectedAt == nil || !list[0].Connected {
		t.Errorf("devices %+v", list)
	}
	again := d.invite(t) // the address has been remembered
	if again.server != i.server || again.code == i.code {
		t.Errorf("the second code leads to %s", again.server)
	}
}

func TestPair_InterruptedTakesTheCodeBack(t *testing.T) {
	d := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL).serve(t)
	i := d.invite(t)
	if err := i.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := i.wait(t); got.code != 130 {
		t.Errorf("pair ended as %+v", got)
	}
	if answer := d.exchange(t, "/client/pair", `{"type":"pair.redeem","code":"`+i.code+`","device_name":"late"}`); !strings.Contains(answer, "pair.error") {
		t.Errorf("the code still works: %s", answer)
	}
	first := d.invite(t)
	second := d.invite(t)
	if got := first.wait(t); got.code != 1 || !strings.Contains(got.stderr, "replaced") {
		t.Errorf("the replaced one ended as %+v", got)
	}
	if d.stop(t, syscall.SIGTERM) != 0 {
		t.Error("an open invitation keeps the host from ending cleanly")
	}
	if got := second.wait(t); got.code != 3 {
		t.Errorf("the one whose host has gone ended as %+v", got)
	}
}

// One phone is connected: the second is told so, and its owner, who can let it in.
func TestK18_TheOwnerLetsASecondPhoneIn(t *testing.T) {
	d := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL).serve(t)
	tokenA, _ := d.redeem(t, d.invite(t).code, "phone")
	tokenB, idB := d.redeem(t, d.invite(t).code, "phone")
	if got := d.plexus(t, "devices", "rename", idB[:8], "Bob's", "phone"); got.code != 0 || got.stdout != "phone (2) is shown as Bob's phone now.\n" {
		t.Errorf("rename: %+v", got)
	}
	if got := d.plexus(t, "devices", "rename", idB[:8], " "); got.code != 2 || !strings.Contains(got.stderr, "the name is empty") {
		t.Errorf("an empty name: %+v", got)
	}
	first, code := d.hello(t, tokenA)
	if code != 0 {
		t.Fatalf("the first is refused with %d", code)
	}
	ended := make(chan websocket.StatusCode, 1)
	go func() { // it answers pings as long as it reads
		for {
			if _, _, err := first.Read(t.Context()); err != nil {
				ended <- websocket.CloseStatus(err)
				return
			}
		}
	}()
	if _, code := d.hello(t, tokenB); code != 4009 {
		t.Fatalf("the second gets %d", code)
	}
	if got := d.plexus(t, "devices", "list"); !strings.Contains(got.stdout, "another phone is connected: phone. To let this one in: plexus devices let-in "+idB[:8]) {
		t.Errorf("devices:\n%s", got.stdout)
	}
	if got := d.plexus(t, "status"); !strings.Contains(got.stdout, "Bob's phone, 1 time") || !strings.Contains(got.stdout, "Another phone is connected") {
		t.Errorf("status:\n%s", got.stdout)
	}
	if got := d.plexus(t, "devices", "let-in", idB[:8]); got.code != 0 || !strings.Contains(got.stdout, "Bob's phone gets in at its next try") {
		t.Fatalf("let-in: %+v", got)
	}
	if code := <-ended; code != 4009 {
		t.Errorf("the first was ended with %d", code)
	}
	if _, code := d.hello(t, tokenA); code != 4009 {
		t.Errorf("the first gets in again before the second: %d", code)
	}
	if _, code := d.hello(t, tokenB); code != 0 {
		t.Errorf("the second is refused with %d", code)
	}
}

func TestDevices_RevokedStaysOutForGood(t *testing.T) {
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	d := p.serve(t)
	token, id := d.redeem(t, d.invite(t).code, "lost phone")
	kept, _ := d.redeem(t, d.invite(t).code, "other phone")
	copyOf := p.home + "/backup.db"
	if got := d.plexus(t, "backup", copyOf); got.code != 0 || !strings.Contains(got.stdout, "in clear") {
		t.Fatalf("backup: %+v", got)
	}
	ws, code := d.hello(t, token)
	if code != 0 {
		t.Fatalf("refused with %d", code)
	}
	if got := d.plexus(t, "devices", "revoke", id[:8]); got.code != 0 || !strings.Contains(got.stdout, "lost phone is thrown out") {
		t.Fatalf("revoke: %+v", got)
	}
	if code := ends(t, ws); code != 4003 {
		t.Errorf("the live connection ended with %d", code)
	}
	refused := func(d *daemon, when string) {
		t.Helper()
		if _, code := d.hello(t, token); code != 4003 {
			t.Errorf("%s: the revoked token gets %d", when, code)
		}
		ws, code := d.hello(t, kept)
		if code != 0 {
			t.Errorf("%s: the other phone gets %d", when, code)
		}
		_ = ws.CloseNow()
	}
	refused(d, "at once")
	if got := p.plexus(t, "restore", copyOf); got.code != 1 || !strings.Contains(got.stderr, "Stop it first") {
		t.Errorf("restore beside a running host: %+v", got)
	}
	d.stop(t, syscall.SIGTERM)
	d = p.serve(t)
	refused(d, "after a restart")
	d.stop(t, syscall.SIGTERM)
	if got := p.plexus(t, "restore", copyOf); got.code != 0 || !strings.Contains(got.stdout, "Left out: lost phone") {
		t.Fatalf("restore: %+v", got)
	}
	d = p.serve(t)
	refused(d, "after the backup was restored")
	if list := d.devices(t); len(list) != 1 {
		t.Errorf("devices %+v", list)
	}
	d.stop(t, syscall.SIGTERM)
	if got := p.plexus(t, "restore", copyOf, "--readmit", id); got.code != 0 || !strings.Contains(got.stdout, "Let in again: lost phone") {
		t.Fatalf("readmit: %+v", got)
	}
	if _, code := p.serve(t).hello(t, token); code != 0 {
		t.Errorf("readmitted and refused with %d", code)
	}
}

func TestPair_SurvivesAKillOnceTheAnswerIsOut(t *testing.T) {
	p := newPlace(t, "PLEXUS_PUBLIC_URL="+publicURL)
	d := p.serve(t)
	token, id := d.redeem(t, d.invite(t).code, "phone")
	d.stop(t, syscall.SIGKILL)
	d = p.serve(t)
	if list := d.devices(t); len(list) != 1 || list[0].ID != id {
		t.Errorf("devices %+v", list)
	}
	if _, code := d.hello(t, token); code != 0 {
		t.Errorf("refused with %d", code)
	}
}

func TestN13_ListensOnThisMachineOnly(t *testing.T) {
	for _, flag := range []string{"--client-addr", "--nerve-addr", "--admin-addr"} {
		for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.168.1.7:0", ":0", "localhost:0", "box.tail1234.ts.net:0"} {
			if got := newPlace(t).plexus(t, "serve", flag, addr); got.code != 2 || !strings.Contains(got.stderr, flag) {
				t.Errorf("%s %s: %+v", flag, addr, got)
			}
		}
	}
	d := newPlace(t).serve(t)
	for _, addr := range []string{d.Client, d.Admin, d.Nerve} {
		if !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Errorf("it listens at %s", addr)
		}
		resp, err := http.Get("http://" + addr + "/healthz") // a test's own daemon
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || strings.TrimSpace(string(body)) != "ok" {
			t.Errorf("%s: healthz %q, %v", addr, body, err)
		}
	}
}
