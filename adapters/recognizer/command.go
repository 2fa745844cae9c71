package recognizer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plexus/domain/pcm"
	"plexus/ports"
)

const (
	maxPrinted = 64 << 10 // bytes of text; a minute's speech has a few thousand
	// waitDelay is how long a program that has ended may leave its output open
	// to one that it has started.
	waitDelay = 500 * time.Millisecond
)

var (
	errNoCommand  = errors.New("the command is not in PATH")
	errNotStarted = errors.New("the command cannot be started")
	errPrinted    = errors.New("the command printed over 64 KiB")
	errNoFile     = errors.New("no file for the speech")
)

// Command is a program that gets a 16 kHz mono WAV file as its last argument and
// prints its text. Methods may be called concurrently.
//
// The file is in a folder of its own, the program's working folder, which is
// removed when the program ends. What a killed host leaves there is removed at the
// next start. On Unix all that the program started is killed then too, but for what
// has left its process group.
type Command struct {
	argv  []string
	env   []string
	dir   string // where the folders are made; made itself when needed
	limit time.Duration
}

var _ ports.Transcriber = (*Command)(nil)

// NewCommand takes a program, as a full path or as a name to be found in PATH,
// and its first arguments. dir is a full path of a folder for speech alone,
// which need not be there yet. It starts nothing, and does not look whether the
// program is there: it may be installed later.
func NewCommand(argv []string, dir string) (*Command, error) {
	if len(argv) == 0 {
		return nil, errors.New("recognizer: command is missing")
	}
	if name := argv[0]; name == "" || filepath.Base(name) != name && !filepath.IsAbs(name) {
		return nil, errors.New("recognizer: command has to begin with the name of a program or its full path")
	}
	if slices.ContainsFunc(argv, func(arg string) bool { return strings.ContainsRune(arg, 0) }) {
		return nil, errors.New("recognizer: command holds a NUL character")
	}
	return &Command{argv: slices.Clone(argv), env: keptEnvironment(os.Environ()), dir: dir, limit: DefaultTimeout}, nil
}

// keptEnvironment is what a program needs to find its files and to print UTF-8.
// Other variables may hold keys and are not passed on.
func keptEnvironment(environ []string) []string {
	kept := []string{
		"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR",
		"SYSTEMROOT", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA", // Windows
	}
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.Contains(kept, strings.ToUpper(name))
	})
}

// Check reports whether the program is there and can be executed. It does not
// start it.
func (c *Command) Check(context.Context) error {
	_, err := c.find()
	return err
}

// find gives the program's path. One in the working folder is not taken.
func (c *Command) find() (string, error) {
	path, err := exec.LookPath(c.argv[0])
	switch {
	case err == nil:
		return path, nil
	case !filepath.IsAbs(c.argv[0]):
		return "", fmt.Errorf("%w: %s", errNoCommand, c.argv[0])
	}
	return "", fmt.Errorf("%w: %w", errNotStarted, err) // its path, and why
}

// Transcribe runs the program once; see ports.Transcriber.
func (c *Command) Transcribe(ctx context.Context, samples []byte) (string, error) {
	return transcribe(ctx, c.limit, samples, func(ctx context.Context) (text string, err error) {
		path, err := c.find()
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return "", fmt.Errorf("%w: %w", errNoFile, err)
		}
		dir, err := os.MkdirTemp(c.dir, "") // mode 0700
		if err != nil {
			return "", fmt.Errorf("%w: %w", errNoFile, err)
		}
		defer func() {
			if removeErr := os.RemoveAll(dir); removeErr != nil && err == nil {
				text, err = "", fmt.Errorf("%w: it could not be removed: %w", errNoFile, removeErr)
			}
		}()
		file := filepath.Join(dir, "speech.wav")
		if err := os.WriteFile(file, pcm.AppendWAV(nil, samples), 0o600); err != nil {
			return "", fmt.Errorf("%w: %w", errNoFile, err)
		}
		return c.run(ctx, path, dir, file)
	})
}

// run executes the program and gives what it printed.
func (c *Command) run(ctx context.Context, path, dir, file string) (string, error) {
	ctx, tooMuch := context.WithCancelCause(ctx)
	defer tooMuch(nil)
	printed := &boundedOutput{left: maxPrinted, full: func() { tooMuch(errPrinted) }}
	complaints := &counter{}
	cmd := exec.CommandContext(ctx, path, append(slices.Clone(c.argv[1:]), file)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.env, dir, waitDelay
	cmd.Stdout, cmd.Stderr = printed, complaints
	killAll := ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("%w: %w", errNotStarted, err)
	}
	err := cmd.Wait()
	killAll()
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), errPrinted):
		return "", errPrinted
	case errors.As(err, &exit):
		return "", fmt.Errorf("the command ended with %s and %d bytes of complaints", exit, complaints.n)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // one that it started kept the output open
		return "", errors.New("the command's output could not be read")
	}
	return printed.text.String(), nil
}

// boundedOutput keeps what a program prints, and calls full when that is too much.
type boundedOutput struct {
	text strings.Builder
	left int
	full func()
}

func (p *boundedOutput) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		p.full()
		return 0, io.ErrShortWrite
	}
	return p.text.Write(b)
}

// counter counts what is not kept: error output may quote the speech.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}
