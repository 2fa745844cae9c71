package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Kinds of child.
const (
	KindHost  = "host"  // a whole host with scripted adapters
	KindFloor = "floor" // sockets that echo bytes and know no protocol
)

// Setup is what a child is told, as one JSON line on its standard input.
type Setup struct {
	Dir       string `json:"dir"` // for its Unix socket
	SearchURL string `json:"search_url,omitempty"`
	ModelURL  string `json:"model_url,omitempty"`
}

// Ready is a child's first line: where it listens.
type Ready struct {
	TCP   string `json:"tcp"`
	Unix  string `json:"unix"`
	Token string `json:"token,omitempty"` // made for this run alone
}

// Vitals are what a child says of itself when asked.
type Vitals struct {
	Mallocs    uint64 `json:"mallocs"`
	HeapInUse  uint64 `json:"heap_in_use"` // bytes, after a collection
	Goroutines int    `json:"goroutines"`
	Files      int    `json:"files"`    // open descriptors, 0 where the system does not say
	Resident   int    `json:"resident"` // KiB, 0 where the system does not say
}

// child is a running child process; it ends when its standard input does.
type child struct {
	Ready
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func startChild(ctx context.Context, argv []string, s Setup) (*child, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stdin: stdin, stdout: bufio.NewReader(stdout)}
	if err := errors.Join(json.NewEncoder(stdin).Encode(s), c.answer(&c.Ready)); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// dial connects to one of its listeners, which are of TCP for WebSockets.
func (c *child) dial(websocket bool) (net.Conn, error) {
	if websocket {
		return net.Dial("tcp", c.TCP)
	}
	return net.Dial("unix", c.Unix)
}

func (c *child) answer(v any) error {
	line, err := c.stdout.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the child gave no answer: %w", err)
	}
	return json.Unmarshal(line, v)
}

// vitals asks the child about itself.
func (c *child) vitals() (Vitals, error) {
	var v Vitals
	_, err := io.WriteString(c.stdin, "vitals\n")
	return v, errors.Join(err, c.answer(&v))
}

func (c *child) close() {
	_ = c.stdin.Close() // which ends it
	_ = c.cmd.Wait()    // its exit code says nothing more
}

// vitals describes this process, after a collection.
func vitals() Vitals {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	v := Vitals{Mallocs: m.Mallocs, HeapInUse: m.HeapInuse, Goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		v.Files = len(files)
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		v.Resident = residentOf(string(status))
	}
	return v
}

// residentOf reads VmRSS, in KiB, from a status file of /proc.
func residentOf(status string) int {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err == nil {
				return n
			}
		}
	}
	return 0
}
