//go:build unix

package main

import (
	"net/http"
	"testing"

	"plexus/adapters/hostfiles"
)

func TestReach_TheAPIIsClosedWhereThereAreSockets(t *testing.T) {
	l := startHostWith(t, true)
	master, err := hostfiles.LoadMasterToken(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := statusOfAPI(t, l.run.Admin, master.Reveal()); got != http.StatusNotFound {
		t.Errorf("got %d", got)
	}
}
