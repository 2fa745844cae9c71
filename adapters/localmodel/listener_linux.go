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
		found, err := ownersIn(name, port)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // no IPv6: no table
			return false, err
		}
		owners = append(owners, found...)
	}
	return allOwnedBy(os.Getuid(), owners), nil
}

func ownersIn(name string, port int) ([]int, error) {
	table, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the socket table: %w", err)
	}
	defer table.Close()
	return listenerOwners(table, port)
}
