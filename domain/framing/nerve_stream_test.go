package framing

import (
	"bytes"
	"errors"
	"testing"
)

// memorySlack is how much more than the bytes in hand a reader may reserve.
const memorySlack = 64 << 10

func TestC5_MemoryFollowsTheBytes(t *testing.T) {
	payload := bytes.Repeat([]byte("x"), MaxPayloadSize)
	frame, err := AppendFrame(nil, Ping, Final, 1, payload)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int{1000, 65536, len(frame)} {
		var a Assembler
		fed := 0
		for chunk := frame; len(chunk) > 0; chunk = chunk[min(step, len(chunk)):] {
			if _, ok, err := a.Next(); ok || err != nil {
				t.Fatalf("frame %v, error %v after %d bytes", ok, err, fed)
			}
			a.Feed(chunk[:min(step, len(chunk))])
			fed += min(step, len(chunk))
			if cap(a.buf) > fed+memorySlack {
				t.Fatalf("holds %d bytes after %d", cap(a.buf), fed)
			}
		}
		f, ok, err := a.Next()
		if !ok || err != nil || !bytes.Equal(f.Payload, payload) {
			t.Fatalf("step %d: frame %v, error %v", step, ok, err)
		}
	}
}

func TestC7_BadHeaderNeedsNoFurtherByte(t *testing.T) {
	cases := map[string]struct {
		header Header
		want   ErrorKind
	}{
		"oversize": {Header{Type: Ping, PayloadLength: MaxPayloadSize + 1}, PayloadTooLarge},
		"type":     {Header{Type: 0x06, PayloadLength: 100}, UnknownMessageType},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var a Assembler
			a.Feed(AppendHeader(nil, c.header))
			_, ok, err := a.Next()
			if ok || !errors.Is(err, &FrameError{c.want}) {
				t.Fatalf("frame %v, error %v, want %v", ok, err, c.want)
			}

			// No resynchronisation: a good frame after it is not seen.
			a.Feed(AppendHeader(nil, Header{Type: Ping}))
			if _, ok, err := a.Next(); ok || !errors.Is(err, &FrameError{c.want}) {
				t.Errorf("then frame %v, error %v", ok, err)
			}
			if err := a.End(); !errors.Is(err, &FrameError{c.want}) {
				t.Errorf("end %v", err)
			}
			if cap(a.buf) != 0 {
				t.Errorf("keeps %d bytes after the fault", cap(a.buf))
			}
		})
	}
}

func TestAssemblerPayloadCannotReachTheNextFrame(t *testing.T) {
	one, _ := AppendFrame(nil, Ping, Final, 1, []byte("one"))
	two, _ := AppendFrame(nil, Ping, Final, 2, []byte("two"))
	var a Assembler
	a.Feed(append(one, two...))
	first, _, _ := a.Next()
	_ = append(first.Payload, "overwritten by the receiver"...)
	second, ok, err := a.Next()
	if !ok || err != nil || second.RequestID != 2 || string(second.Payload) != "two" {
		t.Errorf("second frame %+v, %v, %v", second, ok, err)
	}
}

// Any stream in any pieces: the frames are its bytes, the end is what the rest
// deserves, and memory follows the bytes (C5).
func FuzzStream(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte, piece uint16) {
		var a Assembler
		var frames []byte
		for fed := 0; fed < len(stream) && a.err == nil; {
			n := min(int(piece)+1, len(stream)-fed)
			a.Feed(stream[fed : fed+n])
			fed += n
			if cap(a.buf) > fed+memorySlack {
				t.Fatalf("holds %d bytes after %d", cap(a.buf), fed)
			}
			for frame, ok, _ := a.Next(); ok; frame, ok, _ = a.Next() {
				var err error
				frames, err = AppendFrame(frames, frame.Type, frame.Flags, frame.RequestID, frame.Payload)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.HasPrefix(stream, frames) {
			t.Fatal("the frames are not the stream's bytes")
		}
		if got, want := a.End(), endOf(stream[len(frames):]); !errors.Is(got, want) {
			t.Fatalf("end %v, want %v", got, want)
		}
	})
}

// endOf says how a stream ends that has only rest after its last whole frame.
func endOf(rest []byte) error {
	if len(rest) == 0 {
		return nil
	}
	_, _, err := ParseFrame(rest)
	if len(rest) >= HeaderSize && err == nil {
		return errors.New("never: a whole frame was left behind")
	}
	return err
}
