package novaws

import (
	"testing"

	"plexus/adapters/wsconn"
	"plexus/domain/sessions"
)

// TestCloseCodes_OfEveryReason is the whole of §2 in both columns. A code of 0
// is a cut.
func TestCloseCodes_OfEveryReason(t *testing.T) {
	const rejected = "client protocol rejected"
	same := func(code int, reason string) [2]wsconn.CloseCode {
		return [2]wsconn.CloseCode{{Code: code, Reason: reason}, {Code: code, Reason: reason}}
	}
	fault := [2]wsconn.CloseCode{{Code: 4003, Reason: rejected}, {Code: 1002, Reason: rejected}}
	foreign := same(1011, "")                              // of the other protocol: a bug here
	table := map[sessions.CloseReason][2]wsconn.CloseCode{ // legacy, personal
		sessions.ClientGone: same(1000, ""), sessions.Finished: same(1000, ""),
		sessions.Shutdown:    same(1001, "shutdown"),
		sessions.InvalidUTF8: same(1007, ""), sessions.MessageTooBig: same(1009, ""),
		sessions.BadWebSocket: same(1002, rejected),
		sessions.HelloTimeout: same(4003, rejected), sessions.BadHello: same(4003, rejected),
		sessions.AuthRejected: same(4003, rejected), sessions.DeviceRevoked: same(4003, rejected),
		sessions.UnsupportedPath:     same(4004, "unsupported endpoint"),
		sessions.UnsupportedProtocol: same(4006, rejected), sessions.UnsupportedMedia: same(4006, rejected),
		sessions.UnsupportedLanguage: same(4006, rejected),
		sessions.ControlCapacity:     same(4008, "refresh connection"), sessions.OutputBudget: same(4008, "refresh connection"),
		sessions.RequiredFrameLost: same(4008, "refresh connection"),
		sessions.ConcurrentClient:  same(4009, "client busy"), sessions.VoiceConflict: same(4009, "client busy"),
		sessions.ProtocolFault: fault, sessions.InputOverflow: fault, sessions.FrameStalled: fault,
		sessions.PeerTimeout: same(0, ""), sessions.WriteFailed: same(0, ""), sessions.SlowReader: same(0, ""),
		sessions.EvictedBeforeHello: same(0, ""), sessions.PairingOverLimit: same(0, ""),
		sessions.Internal:     same(1011, ""),
		sessions.InvalidMagic: foreign, sessions.UnsupportedVersion: foreign, sessions.UnknownMessageType: foreign,
		sessions.PayloadTooLarge: foreign, sessions.MalformedFrame: foreign, sessions.NotBinary: foreign,
		sessions.ExtensionRemoved: foreign,
	}
	erasing := map[sessions.CloseReason]bool{
		sessions.AuthRejected: true, sessions.DeviceRevoked: true, sessions.HelloTimeout: true, sessions.BadHello: true,
	}
	for reason := sessions.ClientGone; reason <= sessions.Internal; reason++ {
		wanted, there := table[reason]
		if !there {
			t.Errorf("%v is missing in the table", reason)
			continue
		}
		for column, personal := range []bool{false, true} {
			got := closeCode(reason, personal)
			if got != wanted[column] {
				t.Errorf("%v, personal %v: %+v, want %+v", reason, personal, got, wanted[column])
			}
			if personal && got.Code == 4003 && !erasing[reason] {
				t.Errorf("%v would make a personal client forget its credentials", reason)
			}
		}
	}
}
