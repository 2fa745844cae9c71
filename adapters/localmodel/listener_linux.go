package localmodel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ListenerIsOurs says whether every socket that listens on port belongs to this
// process's user, and there is one. Another user's server on a known port could
// be put there to collect questions.
func ListenerIsOurs(port int) (bool, error) {
	var owners []int
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) { // no IPv6: no table
			continue
		}
		if err != nil {
			return false, fmt.Errorf("reading the socket table: %w", err)
		}
		found, err := listenerOwners(table, port)
		_ = table.Close() // opened for reading
		if err != nil {
			return false, err
		}
		owners = append(owners, found...)
	}
	return allOwnedBy(os.Getuid(), owners), nil
}
