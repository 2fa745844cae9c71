package hostfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// maxRunFile bounds what ReadRun reads, in bytes.
const maxRunFile = 16 << 10

// RunInfo says where a running host can be reached: only what is open, no secret. A
// path that is not UTF-8 has a field of its name with _base64 behind it, which has
// its bytes and comes before the other one.
type RunInfo struct {
	PID         int    `json:"pid"`
	Version     string `json:"version"`
	Admin       string `json:"admin,omitempty"`        // listen address of the owner's page
	Nerve       string `json:"nerve,omitempty"`        // listen address, such as 127.0.0.1:9001
	Client      string `json:"client,omitempty"`       // listen address for phones
	NerveSocket string `json:"nerve_socket,omitempty"` // path
	AdminSocket string `json:"admin_socket,omitempty"` // path
	DataDir     string `json:"data_dir"`
}

// runFile is RunInfo as it stands in the file.
type runFile struct {
	plainRun
	NerveSocketBytes []byte `json:"nerve_socket_base64,omitempty"`
	AdminSocketBytes []byte `json:"admin_socket_base64,omitempty"`
	DataDirBytes     []byte `json:"data_dir_base64,omitempty"`
}

type plainRun RunInfo

// paths are the fields that may hold any bytes, each with its other form.
func (f *runFile) paths() map[*string]*[]byte {
	return map[*string]*[]byte{
		&f.NerveSocket: &f.NerveSocketBytes, &f.AdminSocket: &f.AdminSocketBytes, &f.DataDir: &f.DataDirBytes,
	}
}

// MarshalJSON implements json.Marshaler.
func (r RunInfo) MarshalJSON() ([]byte, error) {
	f := runFile{plainRun: plainRun(r)}
	for path, exact := range f.paths() {
		if !utf8.ValidString(*path) {
			*exact = []byte(*path)
		}
	}
	return json.Marshal(f)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *RunInfo) UnmarshalJSON(b []byte) error {
	var f runFile
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	for path, exact := range f.paths() {
		if len(*exact) > 0 {
			*path = string(*exact)
		}
	}
	*r = RunInfo(f.plainRun)
	return nil
}

// WriteRun writes run as JSON to path in one step, readable by the owner alone.
func WriteRun(path string, run RunInfo) error {
	b, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("encoding run file: %w", err)
	}
	return WriteFile(path, append(b, '\n'))
}

// ReadRun reads run.json of dataDir. Without one it is fs.ErrNotExist. After a
// crash a stale one may be left, so the lock decides whether a host runs.
func ReadRun(dataDir string) (RunInfo, error) {
	file, err := os.OpenFile(filepath.Join(dataDir, RunName), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return RunInfo{}, fmt.Errorf("opening run file: %w", err)
	}
	defer file.Close() // opened for reading
	b, err := io.ReadAll(io.LimitReader(file, maxRunFile))
	if err != nil {
		return RunInfo{}, fmt.Errorf("reading run file: %w", err)
	}
	var run RunInfo
	if err := json.Unmarshal(b, &run); err != nil {
		return RunInfo{}, fmt.Errorf("reading run file: %w", err)
	}
	return run, nil
}

// Remove deletes a file that may be gone already.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing file: %w", err)
	}
	return nil
}
