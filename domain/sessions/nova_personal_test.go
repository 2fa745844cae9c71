package sessions

import (
	"fmt"
	"testing"

	"plexus/domain/nova"
)

const asksPersonal = `,"capabilities":["personal"]`

// greeted gives what a client with these members in its hello is told.
func greeted(members string, offer Offer) (*Nova, Effects) {
	n := newNova()
	n.Text(helloWith(members), start)
	n.TokenChecked(TokenKnown)
	return n, n.SlotAcquired(true, offer)
}

// TestP68_PersonalIsGrantedToWhoAsks: of a host that has it, and to nobody else.
func TestP68_PersonalIsGrantedToWhoAsks(t *testing.T) {
	for _, c := range []struct {
		members string
		host    bool
		granted bool
	}{
		{asksPersonal, true, true}, {asksPersonal, false, false}, {"", true, false}, {"", false, false},
		{`,"capabilities":["x","personal","personal"]`, true, true},
		{`,"capabilities":"personal"`, true, false},
	} {
		n, e := greeted(c.members, Offer{Personal: c.host})
		want(t, c.members, e, Effects{
			Send: []nova.Message{nova.NewReady(server, connection, nova.NoInput, c.granted)},
			Call: Admission{Personal: c.granted},
		})
		if n.Granted() != c.granted {
			t.Errorf("%s: granted is %v", c.members, n.Granted())
		}
	}
}

// TestK10_BothListsComeFromOneOffer: whatever it holds.
func TestK10_BothListsComeFromOneOffer(t *testing.T) {
	for in := nova.NoInput; in <= nova.TextAndDictation; in++ {
		for _, members := range []string{"", asksPersonal} {
			_, e := greeted(members, Offer{Input: in, Personal: true})
			r, _ := e.Send[0].(nova.Ready)
			var c nova.DesktopCapabilities
			if len(e.Send) > 1 {
				c, _ = e.Send[1].(nova.DesktopCapabilities)
			}
			both := in == nova.TextAndDictation
			if r.TextInput != both || r.Dictation != both || c.Dictation != both || c.TextInput != (in != nova.NoInput) {
				t.Errorf("input %d: %+v and %+v", in, r, c)
			}
		}
	}
}

func personalCommand(method string) string {
	return fmt.Sprintf(`{"type":"personal.command","request_id":"i","method":%q}`, method)
}

// TestP75_WhatIsNotAPhonesIsRejected: without reaching the host, and the client
// stays; so is every command without the extension.
func TestP75_WhatIsNotAPhonesIsRejected(t *testing.T) {
	with, without := admitted(t, asksPersonal), admitted(t, "")
	for _, method := range []string{"sources.add", "discovery.configure", "news.refresh", "connector.status", "feishu.status", "no.such.thing"} {
		want(t, method, with.Text(command(method, connection, personalCommand(method)), start), receipted(method, nova.Rejected))
	}
	want(t, "without the extension", without.Text(command("r", connection, personalCommand("state")), start), receipted("r", nova.Rejected))
	if e := with.Text(command("r", connection, personalCommand("state")), start); e.Call == nil {
		t.Errorf("a phone's command gave %+v", e)
	}
	want(t, "its delivery", with.Delivered(nil), receipted("r", nova.Applied))
}
