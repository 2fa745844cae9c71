package framing_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"plexus/domain/framing"
)

// The corpora in testdata/fuzz are taken from the wire vectors and run as plain
// tests too.

func FuzzParseHeader(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := framing.ParseHeader(b)
		if err == nil {
			if !h.Type.Known() || h.PayloadLength > framing.MaxPayloadSize {
				t.Fatalf("accepted %+v", h)
			}
			if again := framing.AppendHeader(nil, h); !bytes.Equal(again, b[:framing.HeaderSize]) {
				t.Fatalf("%x encodes as %x", b[:framing.HeaderSize], again)
			}
		}
		_, payload, frameErr := framing.ParseFrame(b)
		if whole := err == nil && len(b) == framing.HeaderSize+int(h.PayloadLength); whole != (frameErr == nil) {
			t.Fatalf("ParseHeader %+v, %v; ParseFrame %v", h, err, frameErr)
		}
		if frameErr == nil && !bytes.Equal(payload, b[framing.HeaderSize:]) {
			t.Fatal("payload differs from the bytes")
		}
	})
}

func FuzzSearchQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, payload []byte) {
		compareWithOracle(t, payload)
	})
}

// compareWithOracle fails when the two decoders differ, or when an accepted
// query does not survive being written and read again.
func compareWithOracle(t *testing.T, payload []byte) {
	t.Helper()
	got := ours(payload)
	if want, answers := oracle(payload); answers && got != want {
		t.Fatalf("payload %q\ngives %+v\n want %+v", payload, got, want)
	}
	if got.kind != 0 {
		return
	}
	again := framing.AppendSearchQuery(nil, got.query)
	if back := ours(again); back != got {
		t.Fatalf("payload %q\nwritten again %q\ngives %+v\n want %+v", payload, again, back, got)
	}
}

// Every way to spoil one byte of a rich query, by the two decoders.
func TestQ3_SecondDecoderAgrees(t *testing.T) {
	const rich = `{"v":1,"query":"a\u00e9\ud83d\udc4b\n\"é","context":{"url":"u","title":"t","selection":null,"extract":"x","extract_total":120,"extract_kind":"whole"},` +
		`"opts":{"search":true,"max_results":10,"y":[1.5e-3,{"z":[]}]},"x":{"v":"\ud800"}}`
	const bytesToTry = "\"\\{}[]:, \t\n\x00\x1f\x7f\x80\xc3\xff0129.eE+-uUdDtfn'/_"
	compareWithOracle(t, []byte(rich))
	for i := range len(rich) {
		compareWithOracle(t, []byte(rich[:i]))
		compareWithOracle(t, []byte(rich[:i]+rich[i+1:]))
		for j := range len(bytesToTry) {
			compareWithOracle(t, []byte(rich[:i]+bytesToTry[j:j+1]+rich[i+1:]))
			compareWithOracle(t, []byte(rich[:i]+bytesToTry[j:j+1]+rich[i:]))
		}
	}
}

// Random queries put together from pieces that matter to the schema.
func TestQ3_SecondDecoderAgreesOnRandomQueries(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	accepted := 0
	for range 5000 {
		payload := randomQuery(rng)
		compareWithOracle(t, payload)
		if ours(payload).kind == 0 {
			accepted++
		}
	}
	if accepted < 500 {
		t.Errorf("only %d of 5000 were accepted: the comparison says little", accepted)
	}
}

func randomQuery(rng *rand.Rand) []byte {
	pick := func(good string, odd ...string) string {
		if rng.IntN(20) > 0 {
			return good
		}
		return odd[rng.IntN(len(odd))]
	}
	text := func() string {
		return pick(`"text"`, `""`, `"\ud83d\udc4b"`, `"\udc4b"`, `"\\ud800"`, "\"\xff\"", `null`, `1`, `{}`)
	}
	object := func(members ...string) string {
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		switch rng.IntN(30) {
		case 0:
			members = members[1:]
		case 1:
			members = append(members, members[0])
		}
		out := "{"
		for i, m := range members {
			if i > 0 {
				out += ","
			}
			out += m
		}
		return out + "}"
	}
	unknown := func() string {
		return pick(`"x":0`, `"Query":1`, `"x":[{"v":2}]`, `"\ud800":1`, "\"x\":\"\xff\"", `"":""`, `"\u0076":1`)
	}
	return []byte(object(
		`"v":`+pick("1", "0", "2", "255", "256", "1.0", "-0", "01", `"1"`),
		`"query":`+text(),
		`"context":`+pick(object(`"url":`+text(), `"title":`+text(), `"selection":`+text(), unknown()), "null", `["u","t",null,null]`),
		`"opts":`+pick(object(`"search":`+pick("true", "false", "null", "1"), `"max_results":`+pick("10", "0", "1", "100", "101", "1e1", "4294967296")), "[true,10]", "{}"),
		unknown(),
	))
}
