package localmodel

import (
	"errors"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const socketTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 00000000:04D2 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 100 0 0 10 0
   2: 0100007F:04D2 00000000:0000 0A 00000000:00000000 00:00000000 00000000   999        0 3 1 0 100 0 0 10 0
   3: 0100007F:1F90 0100007F:2CAA 01 00000000:00000000 00:00000000 00000000  1000        0 4 1 0 100 0 0 10 0
   4: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 5 1 0 100 0 0 10 0
   5: short
`

func TestListenerOwners(t *testing.T) {
	tests := []struct {
		name string
		port int
		want []int
		ours bool // for uid 1000
	}{
		{"ours", 11434, []int{1000}, true},
		{"ours and another's on a narrower address", 1234, []int{1000, 999}, false},
		{"a connection is no listener", 8080, nil, false},
		{"IPv6", 8081, []int{0}, false},
		{"nobody", 9, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := listenerOwners(strings.NewReader(socketTable), tt.port)
			if err != nil || !slices.Equal(got, tt.want) || allOwnedBy(1000, got) != tt.ours {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
	fault := errors.New("fault")
	if _, err := listenerOwners(iotest.ErrReader(fault), 1); !errors.Is(err, fault) {
		t.Errorf("got %v", err)
	}
	if _, err := listenerOwners(strings.NewReader(strings.ReplaceAll(socketTable, "1000 ", "nobody ")), 11434); err == nil {
		t.Error("a table with an unknown shape was read")
	}
}

func TestListenerIsOurs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	want := runtime.GOOS == "linux"
	if got, err := ListenerIsOurs(port); got != want || err != nil {
		t.Errorf("our listener: %v, %v; want %v", got, err, want)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := ListenerIsOurs(port); got || err != nil {
		t.Errorf("no listener: %v, %v", got, err)
	}
}
