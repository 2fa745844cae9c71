package nervews

import (
	"fmt"
	"testing"

	"plexus/adapters/wsconn"
	"plexus/domain/framing"
	"plexus/domain/sessions"
)

func TestCloseCode_CoversEveryReason(t *testing.T) {
	want := map[sessions.CloseReason]string{
		sessions.ClientGone: "1000", sessions.Shutdown: "1001",
		sessions.InvalidMagic: "1002", sessions.UnsupportedVersion: "1002", sessions.UnknownMessageType: "1002",
		sessions.PayloadTooLarge: "1002", sessions.MalformedFrame: "1002", sessions.BadWebSocket: "1002",
		sessions.FrameStalled: "1002", sessions.NotBinary: "1003", sessions.ExtensionRemoved: "1008",
		sessions.MessageTooBig: "1009", sessions.Internal: "1011",
		sessions.SlowReader: "cut", sessions.PeerTimeout: "cut",
	}
	for reason := sessions.Finished; reason < sessions.Internal; reason++ {
		want[reason] = "1011" // never used here: the reasons of the Nova protocol
	}
	for reason := sessions.ClientGone; reason <= sessions.Internal; reason++ {
		got := "cut"
		if code := closeCode(reason); code != (wsconn.CloseCode{}) {
			got = fmt.Sprint(code.Code)
		}
		if got != want[reason] {
			t.Errorf("%v closes with %s, want %s", reason, got, want[reason])
		}
	}
}

func TestFrameErrorReason_CoversEveryFrameError(t *testing.T) {
	for kind := framing.InvalidMagic; kind <= framing.MalformedFrame; kind++ {
		if got := FrameErrorReason(&framing.FrameError{Kind: kind}); got == sessions.Internal {
			t.Errorf("%v has no close reason", kind)
		}
	}
}
