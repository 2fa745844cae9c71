package manage

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"plexus/adapters/adminapi"
	"plexus/cmd/plexus/cli"
	"plexus/ports"
)

func TestPickExtension(t *testing.T) {
	rows := []adminapi.Extension{
		{ID: 1, Origin: "chrome-extension://a", Digits: "4831", State: "waiting"},
		{ID: 2, Origin: "chrome-extension://b", Digits: "0001", State: "waiting"},
		{ID: 3, Origin: "chrome-extension://c", Digits: "5555", State: "allowed"},
		{ID: 4, Origin: "chrome-extension://d", State: "by_token"},
		{ID: 5, Origin: "moz-extension://e", Digits: "7777", State: "waiting"},
		{ID: 6, Origin: "moz-extension://f", Digits: "7777", State: "waiting"},
		{ID: 7, Origin: "moz-extension://g", Digits: "1234", State: "waiting"},
		{ID: 1234, Origin: "moz-extension://h", Digits: "9999", State: "blocked"},
		{ID: 8, Origin: "moz-extension://i", Digits: "2222", State: "waiting"},
		{ID: 9, Origin: "moz-extension://i", Digits: "3333", State: "blocked"},
		{ID: 10, Origin: "moz-extension://k", Digits: "6666", State: "allowed"},
		{ID: 11, Origin: "moz-extension://l", Digits: "6666", State: "waiting"},
		{ID: 2468, Origin: "moz-extension://j", Digits: "2468", State: "waiting"},
	}
	for _, tc := range []struct {
		name, which string
		id          int64
		refusal     string // part of it; "" with id 0: unknown
		what        change // remove by default
	}{
		{"digits of a waiting row", "4831", 1, "", ""},
		{"digits that look like an ID with zeros", "0001", 2, "", ""},
		{"an ID", "1", 1, "", ""},
		{"an ID with zeros is none", "0003", 0, "", ""},
		{"digits of a removed row", "9999", 1234, "", ""},
		{"digits of a row that is let in", "5555", 3, "", ""},
		{"digits that are let in and that knock", "6666", 0, "several rows have these digits", ""},
		{"the same, to be allowed", "6666", 11, "", allow},
		{"digits of a row that is let in, to be allowed", "5555", 3, "", allow},
		{"digits of two that knock, to be allowed", "7777", 0, "several rows have these digits", allow},
		{"an origin", "chrome-extension://d", 4, "", ""},
		{"nothing", "", 0, "", ""},
		{"digits of two rows", "7777", 0, "several rows have these digits", ""},
		{"digits of one row and ID of another", "1234", 0, "the ID of one row and the digits of another", ""},
		{"digits and ID of the same row", "2468", 2468, "", ""},
		{"origin of two rows", "moz-extension://i", 0, "several rows have this origin", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			row, err := pickExtension(rows, tc.which, cmp.Or(tc.what, remove))
			if row.ID != tc.id {
				t.Errorf("row %d, want %d (%v)", row.ID, tc.id, err)
			}
			var usage cli.UsageError
			switch {
			case tc.id != 0 && err != nil:
				t.Error(err)
			case tc.id == 0 && tc.refusal == "" && !errors.Is(err, ports.ErrExtensionUnknown):
				t.Errorf("got %v, want an unknown extension", err)
			case tc.refusal != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), tc.refusal)):
				t.Errorf("got %v, want %q", err, tc.refusal)
			}
		})
	}
}
