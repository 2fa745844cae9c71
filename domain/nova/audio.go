package nova

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"plexus/domain/jsonscan"
	"plexus/domain/nova/jsonform"
)

// A frame of host speech, before its samples:
//
//	offset 0  4 bytes  "NOVA"
//	       4  2 bytes  length of the header, big endian, 2…MaxAudioHeader
//	       6           the header, JSON
const (
	audioMagic  = "NOVA"
	audioPrefix = len(audioMagic) + 2
)

// What is wrong with audio.
var (
	errPCM         = errors.New("samples must be 2…65536 bytes and even")
	errAudioShort  = errors.New("frame ends too early")
	errAudioMagic  = errors.New("frame does not begin with NOVA")
	errAudioLength = errors.New("header length out of bounds")
	errAudioID     = errors.New("utterance_id out of bounds")
	errAudioNumber = errors.New("generation_epoch or sequence is no integer in bounds")
)

// AudioHeader names the place of an audio frame in the host's speech.
type AudioHeader struct {
	Generation
	Sequence uint64 // 0…MaxSafeInteger, +1 per frame of a generation
}

// check holds h against its bounds.
func (h *AudioHeader) check() error {
	switch {
	case !utf8.ValidString(h.UtteranceID), !id256(h.UtteranceID):
		return errAudioID
	case h.Epoch < 1, h.Epoch > MaxSafeInteger, h.Sequence > MaxSafeInteger:
		return errAudioNumber
	}
	return nil
}

// AppendAudioFrame appends a NOVA frame. pcm is PCM16, little endian, mono,
// 24 kHz: 2…MaxPCM bytes, even. An error is a bug of the caller, and dst comes
// back as it was. With room in dst it allocates nothing.
func AppendAudioFrame(dst []byte, h AudioHeader, pcm []byte) ([]byte, error) {
	err := h.check()
	if err == nil {
		err = checkPCM(pcm)
	}
	if err != nil {
		return dst, fmt.Errorf("nova: write audio frame: %w", err)
	}
	out := append(append(dst, audioMagic...), 0, 0)
	out = jsonscan.AppendASCII(append(out, `{"utterance_id":`...), h.UtteranceID)
	out = strconv.AppendUint(append(out, `,"generation_epoch":`...), h.Epoch, 10)
	out = strconv.AppendUint(append(out, `,"sequence":`...), h.Sequence, 10)
	out = append(out, '}')
	length := len(out) - len(dst) - audioPrefix
	if length > MaxAudioHeader {
		return dst, fmt.Errorf("nova: write audio frame: %w", errAudioLength)
	}
	binary.BigEndian.PutUint16(out[len(dst)+len(audioMagic):], uint16(length))
	return append(out, pcm...), nil
}

// DecodeAudioFrame reads a NOVA frame. pcm is a part of frame: copy it before
// the buffer is used again.
func DecodeAudioFrame(frame []byte) (h AudioHeader, pcm []byte, err error) {
	header, pcm, err := cutAudioFrame(frame)
	if err == nil {
		h, err = readAudioHeader(header)
	}
	if err == nil {
		err = checkPCM(pcm)
	}
	if err != nil {
		return AudioHeader{}, nil, fmt.Errorf("nova: read audio frame: %w", err)
	}
	return h, pcm, nil
}

// cutAudioFrame finds the header and the samples. It checks every length against
// the bytes that are there.
func cutAudioFrame(frame []byte) (header, pcm []byte, err error) {
	if len(frame) < audioPrefix {
		return nil, nil, errAudioShort
	}
	if string(frame[:len(audioMagic)]) != audioMagic {
		return nil, nil, errAudioMagic
	}
	length := int(binary.BigEndian.Uint16(frame[len(audioMagic):]))
	if length < len("{}") || length > MaxAudioHeader {
		return nil, nil, errAudioLength
	}
	rest := frame[audioPrefix:]
	if len(rest) < length {
		return nil, nil, errAudioShort
	}
	return rest[:length], rest[length:], nil
}

// readAudioHeader takes integers only as they are written: 1.0 or 1e0 here would
// be another frame to a peer that reads tokens.
func readAudioHeader(text []byte) (AudioHeader, error) {
	f := jsonform.Read(text)
	var h AudioHeader
	f.Text("utterance_id", jsonform.Required, &h.UtteranceID, id256)
	if err := f.Err(); err != nil {
		return h, err
	}
	var epochOK, sequenceOK bool
	epoch, _ := f.Token("generation_epoch")
	sequence, _ := f.Token("sequence")
	h.Epoch, epochOK = jsonform.Integer(epoch)
	h.Sequence, sequenceOK = jsonform.Integer(sequence)
	if !epochOK || !sequenceOK {
		return h, errAudioNumber
	}
	return h, h.check()
}

// SplitPCM yields pcm in pieces of at most MaxPCM bytes.
func SplitPCM(pcm []byte) iter.Seq[[]byte] { return slices.Chunk(pcm, MaxPCM) }

// CheckUplinkPCM accepts a client's audio message: 2…MaxPCM bytes, even. An error
// is a protocol fault.
func CheckUplinkPCM(b []byte) error {
	if err := checkPCM(b); err != nil {
		return fmt.Errorf("nova: read uplink audio: %w", err)
	}
	return nil
}

func checkPCM(b []byte) error {
	if len(b) < 2 || len(b) > MaxPCM || len(b)%2 != 0 {
		return errPCM
	}
	return nil
}
