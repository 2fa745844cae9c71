package framing

// Frame is one whole frame taken from a stream.
type Frame struct {
	Header
	Payload []byte
}

// Assembler puts frames together from a byte stream that arrives in pieces of
// any size. It keeps only bytes that arrived: what a header promises reserves
// nothing. The zero value is ready; it is not safe for concurrent use.
//
//	a.Feed(chunk)
//	for f, ok, err := a.Next(); ok; f, ok, err = a.Next() { … }
//
// A bad header ends the stream for good; the assembler does not search for the next
// magic.
type Assembler struct {
	buf []byte
	off int // buf[off:] has not been handed out
	err error
}

// growStep bounds how much memory is reserved beyond the bytes that arrived. The
// price is one copy per step.
const growStep = 32 << 10

// Feed adds the next bytes of the stream; it copies them. Payloads handed out
// before are overwritten. After a fault it drops everything.
func (a *Assembler) Feed(chunk []byte) {
	if a.err != nil {
		return
	}
	if a.off > 0 {
		a.buf = a.buf[:copy(a.buf, a.buf[a.off:])]
		a.off = 0
	}
	if need := len(a.buf) + len(chunk); need > cap(a.buf) {
		grown := make([]byte, len(a.buf), need+growStep)
		copy(grown, a.buf)
		a.buf = grown
	}
	a.buf = append(a.buf, chunk...)
}

// Next returns the next whole frame, or false when it needs more bytes. The
// payload is valid until Feed. The error is a *FrameError, is given as soon as
// the 20 header bytes are there, and stays.
func (a *Assembler) Next() (Frame, bool, error) {
	rest := a.buf[a.off:]
	if a.err != nil || len(rest) < HeaderSize {
		return Frame{}, false, a.err
	}
	h, err := ParseHeader(rest)
	if err != nil {
		a.err = err
		a.buf, a.off = nil, 0
		return Frame{}, false, err
	}
	size := HeaderSize + int(h.PayloadLength)
	if len(rest) < size {
		return Frame{}, false, nil
	}
	a.off += size
	return Frame{Header: h, Payload: rest[HeaderSize:size:size]}, true, nil
}

// End says how the stream ended once its last bytes are fed and Next has nothing
// more: nil between two frames, MalformedFrame inside one, or the fault of Next.
func (a *Assembler) End() error {
	if a.err != nil {
		return a.err
	}
	if a.off < len(a.buf) {
		return ErrMalformedFrame
	}
	return nil
}
