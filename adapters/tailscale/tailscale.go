// Package tailscale asks the machine's own Tailscale, by its command line tool,
// for its name in the tailnet and for what it forwards. It changes nothing but
// in Serve.
package tailscale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrNotInstalled: there is no tailscale tool.
	ErrNotInstalled = errors.New("tailscale is not installed")
	// ErrNotConnected: there is one, and it is not connected to a tailnet, or the
	// tailnet gives its machines no names.
	ErrNotConnected = errors.New("tailscale is not connected to a tailnet with names")
)

const (
	askLimit  = 5 * time.Second // of one question
	maxAnswer = 4 << 20         // of the tool's answer, in bytes
)

// Tool is the command line tool.
type Tool struct {
	path string
	env  []string
}

// Find looks for the tool in the PATH of environ, whose entries are NAME=value,
// and where macOS keeps its apps. None is ErrNotInstalled.
func Find(environ []string) (*Tool, error) {
	var dirs []string
	for _, entry := range environ {
		if list, ok := strings.CutPrefix(entry, "PATH="); ok {
			dirs = filepath.SplitList(list) // the last entry of a name counts
		}
	}
	name := "tailscale"
	switch runtime.GOOS {
	case "darwin":
		dirs = append(dirs, "/Applications/Tailscale.app/Contents/MacOS")
	case "windows":
		name += ".exe"
	}
	for _, dir := range dirs {
		// A relative folder would depend on the shell's working directory.
		for _, file := range []string{name, "Tailscale"} {
			path := filepath.Join(dir, file)
			info, err := os.Stat(path)
			if filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows") {
				return &Tool{path, environ}, nil
			}
		}
	}
	return nil, ErrNotInstalled
}

// Name is this machine's full name in its tailnet, such as box.tail1234.ts.net.
func (t *Tool) Name(ctx context.Context) (string, error) {
	var status struct {
		BackendState string
		Self         struct{ DNSName string }
	}
	if err := t.ask(ctx, &status, "status", "--json", "--peers=false"); err != nil {
		return "", err
	}
	name := strings.TrimSuffix(status.Self.DNSName, ".")
	if status.BackendState != "Running" || !strings.Contains(name, ".") {
		return "", ErrNotConnected
	}
	return strings.ToLower(name), nil
}

// FindConnected looks for a tool that is connected to a tailnet, and gives this
// machine's name there. Else it is ErrNotInstalled or ErrNotConnected.
func FindConnected(ctx context.Context, environ []string) (tool *Tool, name string, err error) {
	if tool, err = Find(environ); err == nil {
		name, err = tool.Name(ctx)
	}
	return tool, name, err
}

// Forward is one thing that Tailscale forwards to this machine.
type Forward struct {
	Host   string // name of the machine, "" for every one
	Port   uint16
	Path   string // "/" for all; of raw TCP ""
	Target string // address it goes to, host:port, or "" for something else, such as a folder
	Public bool   // from the whole internet (Funnel), not from the tailnet alone
}

// serveConfig is what `serve status --json` prints.
type serveConfig struct {
	TCP map[string]struct {
		TCPForward string
	}
	Web map[string]struct {
		Handlers map[string]struct{ Proxy string }
	}
	AllowFunnel map[string]bool
	Foreground  map[string]serveConfig // of commands that are still running
}

// Forwards lists what Tailscale forwards, in no particular order.
func (t *Tool) Forwards(ctx context.Context) ([]Forward, error) {
	var config serveConfig
	if err := t.ask(ctx, &config, "serve", "status", "--json"); err != nil {
		return nil, err
	}
	return config.forwards(), nil
}

func (c serveConfig) forwards() []Forward {
	var list []Forward
	for at, web := range c.Web {
		host, port := splitPort(at)
		for path, h := range web.Handlers {
			list = append(list, Forward{host, port, path, targetOf(h.Proxy), c.AllowFunnel[at]})
		}
	}
	for at, tcp := range c.TCP {
		if tcp.TCPForward == "" {
			continue // it is listed under Web
		}
		_, port := splitPort(":" + at)
		public := false
		for where, on := range c.AllowFunnel {
			public = public || on && strings.HasSuffix(where, ":"+at)
		}
		list = append(list, Forward{"", port, "", targetOf(tcp.TCPForward), public})
	}
	for _, running := range c.Foreground {
		list = append(list, running.forwards()...)
	}
	return list
}

func splitPort(at string) (host string, port uint16) {
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return at, 0
	}
	n, err := strconv.ParseUint(at[i+1:], 10, 16)
	if err != nil {
		return at[:i], 0
	}
	return strings.ToLower(at[:i]), uint16(n)
}

// targetOf gives host:port of http://127.0.0.1:18787/path and of its shorter forms;
// localhost counts as 127.0.0.1.
func targetOf(proxy string) string {
	if _, rest, ok := strings.Cut(proxy, "://"); ok {
		proxy = rest
	}
	proxy, _, _ = strings.Cut(proxy, "/")
	if rest, ok := strings.CutPrefix(proxy, "localhost:"); ok {
		proxy = "127.0.0.1:" + rest
	}
	addr, err := netip.ParseAddrPort(proxy)
	if err != nil {
		return ""
	}
	return addr.String()
}

// ServeArgs are the words after tailscale that make it forward HTTPS at port to an
// address of this machine, now and after every start.
func ServeArgs(port uint16, to netip.AddrPort) []string {
	return []string{"serve", "--bg", "--https=" + strconv.Itoa(int(port)), "http://" + to.String()}
}

// Serve runs ServeArgs. What the tool says, which may be a question to answer in
// a browser, goes to out.
func (t *Tool) Serve(ctx context.Context, port uint16, to netip.AddrPort, out io.Writer) error {
	cmd := t.command(ctx, ServeArgs(port, to)...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("tailscale serve: %w", err)
	}
	return nil
}

func (t *Tool) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Env = t.env
	cmd.WaitDelay = time.Second
	return cmd
}

// ask runs the tool and reads the JSON that it prints.
func (t *Tool) ask(ctx context.Context, into any, args ...string) error {
	ctx, stop := context.WithTimeout(ctx, askLimit)
	defer stop()
	var out, problem capped
	cmd := t.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		if line := bytes.TrimSpace(problem.Bytes()); len(line) > 0 {
			err = fmt.Errorf("%w: %.200s", err, line)
		}
		return fmt.Errorf("tailscale %s: %w", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		return fmt.Errorf("tailscale %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// capped keeps the beginning of what is written to it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	if room := maxAnswer - c.Len(); len(b) > room {
		_, _ = c.Buffer.Write(b[:max(0, room)]) // never fails
		return len(b), nil
	}
	return c.Buffer.Write(b)
}
