//go:build unix

package recognizer

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the leader of a process group of its own, which the end of its
// context kills as a whole, and returns a function that kills the processes that
// outlive it.
func ownGroup(cmd *exec.Cmd) (killAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error {
		if syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) != nil {
			return os.ErrProcessDone // the whole group has ended, as is usual
		}
		return nil
	}
	cmd.Cancel = kill
	return func() { _ = kill() }
}
