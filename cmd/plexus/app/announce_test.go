package app

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGreeting_SaysWhatToDoNext(t *testing.T) {
	got := greeting("127.0.0.1:9010", "127.0.0.1:9001", "/h/token")
	for _, want := range []string{"ws://127.0.0.1:9001", "chrome://extensions", "web/extension", "plexus extensions allow DIGITS", "/h/token", "Ctrl-C"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestGreeting_SendsTheExtensionToAnotherAddress(t *testing.T) {
	if got := greeting("127.0.0.1:9010", "127.0.0.1:9001", "/h/token"); strings.Contains(got, "into its settings") {
		t.Errorf("the usual address is to be put into the settings:\n%s", got)
	}
	if got := greeting("127.0.0.1:9010", "127.0.0.1:4242", "/h/token"); !strings.Contains(got, "First put the address above into its settings") {
		t.Errorf("an unusual address is not to be put into the settings:\n%s", got)
	}
}
