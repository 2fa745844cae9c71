package nova_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"plexus/domain/nova"
)

// The corpora in testdata/fuzz are taken from the wire vectors and run as plain
// tests too.

// FuzzNovaText reads any text as everything that it could be. Whatever is taken
// must be JSON, and must read the same after it has been written.
func FuzzNovaText(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		taken := fuzzHello(t, text)
		taken = fuzzCommand(t, text) || taken
		taken = fuzzControl(t, text) || taken
		taken = fuzzMessage(t, text, nova.DecodeMessage) || taken
		taken = fuzzMessage(t, text, nova.DecodePairAnswer) || taken
		taken = fuzzPairing(t, text) || taken
		if taken && (!json.Valid(text) || !utf8.Valid(text)) {
			t.Fatalf("took %q", text)
		}
	})
}

func fuzzHello(t *testing.T, text []byte) bool {
	h, err := nova.DecodeHello(text)
	if err != nil || h.Fault != nova.HelloFine {
		return err == nil
	}
	again := must(t)(nova.AppendHello(nil, h))
	if back, err := nova.DecodeHello(again); err != nil || !reflect.DeepEqual(back, h) {
		t.Fatalf("%q written %q reads %+v, %v", text, again, back, err)
	}
	return true
}

func fuzzCommand(t *testing.T, text []byte) bool {
	c, err := nova.DecodeCommand(text)
	if err != nil {
		return false
	}
	if again, _, err := c.Control(); err == nil {
		fuzzWritten(t, again)
	}
	return true
}

func fuzzControl(t *testing.T, payload []byte) bool {
	if len(payload) > nova.MaxText {
		return false
	}
	c, err := nova.DecodeControl(payload)
	if err != nil {
		return false
	}
	fuzzWritten(t, c)
	return true
}

// fuzzWritten writes a control and reads it in its envelope.
func fuzzWritten(t *testing.T, c nova.Control) {
	envelope, err := nova.AppendCommand(nil, "r", "c", c)
	if err != nil {
		return // it fits, its envelope does not
	}
	command, err := nova.DecodeCommand(envelope)
	if err != nil {
		t.Fatalf("%+v written %q: %v", c, envelope, err)
	}
	again, fingerprint, err := command.Control()
	if err != nil || !reflect.DeepEqual(again, c) {
		t.Fatalf("written %q reads %+v, %v; want %+v", envelope, again, err, c)
	}
	spaced, err := nova.DecodeCommand(bytes.Replace(envelope, []byte(`"payload":{`), []byte(`"payload": { `), 1))
	if err != nil {
		return // the spaces are too much
	}
	if _, same, err := spaced.Control(); err != nil || same != fingerprint {
		t.Fatalf("%q has two fingerprints, %v", envelope, err)
	}
}

// fuzzMessage holds a client against the host. A client takes more than the host
// writes, so a message that cannot be written is no fault.
func fuzzMessage(t *testing.T, text []byte, decode func([]byte) (nova.Message, error)) bool {
	m, err := decode(text)
	if err != nil {
		return false
	}
	once, err := nova.Append(nil, m)
	if err != nil {
		return true
	}
	back, err := decode(once)
	if err != nil {
		t.Fatalf("%q written %q: %v", text, once, err)
	}
	if twice := must(t)(nova.Append(nil, back)); !bytes.Equal(once, twice) {
		t.Fatalf("%q written %q and then %q", text, once, twice)
	}
	return true
}

func fuzzPairing(t *testing.T, text []byte) bool {
	redeem, err := nova.DecodePairRedeem(text)
	if err == nil {
		again := must(t)(nova.AppendPairRequest(nil, redeem))
		if back, err := nova.DecodePairRedeem(again); err != nil || back != redeem {
			t.Fatalf("%q written %q reads %+v, %v", text, again, back, err)
		}
		return true
	}
	_, err = nova.DecodePairAdmin(text)
	return err == nil
}

// must fails the test on an error.
func must(t *testing.T) func([]byte, error) []byte {
	return func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

// FuzzNovaAudio reads any bytes as a frame. What is taken must read the same
// after it has been written, unless its header does not fit in ASCII.
func FuzzNovaAudio(f *testing.F) {
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, pcm, err := nova.DecodeAudioFrame(frame)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(frame, pcm) || nova.CheckUplinkPCM(pcm) != nil {
			t.Fatalf("%x: samples %x", frame, pcm)
		}
		again, err := nova.AppendAudioFrame(nil, h, pcm)
		if err != nil {
			if utf8.RuneCountInString(h.UtteranceID)*12+100 < nova.MaxAudioHeader {
				t.Fatalf("%+v cannot be written: %v", h, err)
			}
			return
		}
		back, samples, err := nova.DecodeAudioFrame(again)
		if err != nil || back != h || !bytes.Equal(samples, pcm) {
			t.Fatalf("%x written %x reads %+v, %v", frame, again, back, err)
		}
	})
}
