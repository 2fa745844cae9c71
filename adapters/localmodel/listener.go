package localmodel

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// listenerOwners reads a socket table of the kernel (/proc/net/tcp, tcp6) and
// gives the uid of every socket that listens on port, at whatever address.
func listenerOwners(table io.Reader, port int) ([]int, error) {
	const (
		localField, stateField, uidField = 1, 3, 7
		listening                        = "0A"
	)
	var owners []int
	lines := bufio.NewScanner(table)
	lines.Scan() // the heading
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= uidField || fields[stateField] != listening {
			continue
		}
		_, hexPort, _ := strings.Cut(fields[localField], ":")
		if p, err := strconv.ParseUint(hexPort, 16, 16); err != nil || int(p) != port {
			continue
		}
		uid, err := strconv.Atoi(fields[uidField])
		if err != nil {
			return nil, fmt.Errorf("reading the socket table: uid of port %d: %w", port, err)
		}
		owners = append(owners, uid)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the socket table: %w", err)
	}
	return owners, nil
}

// allOwnedBy says whether there is a listener, and none of another user.
func allOwnedBy(uid int, owners []int) bool {
	for _, o := range owners {
		if o != uid {
			return false
		}
	}
	return len(owners) > 0
}
