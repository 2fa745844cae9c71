package nova

import (
	"encoding/json"
	"errors"
)

// errUnwritten keeps the signatures usable while their bodies are being written.
var errUnwritten = errors.New("nova: not written yet")

// DecodeHello reads a client's first message. An error means that it is no
// hello with a well-formed token: close 4003. What else is wrong with it stands
// in Hello.Fault and counts only after the token has been found good.
func DecodeHello(text []byte) (Hello, error) { return Hello{}, errUnwritten }

// DecodeCommand reads a client.command up to its payload, which is only known to
// be an object. An error is a protocol fault.
func DecodeCommand(text []byte) (Command, error) { return Command{}, errUnwritten }

// DecodeControl reads the payload of a client.command. An error is a protocol
// fault. Two payloads that mean the same give equal controls.
func DecodeControl(payload json.RawMessage) (Control, error) { return nil, errUnwritten }

// Normalise gives the fingerprint of a control that DecodeControl returned.
func Normalise(c Control) Fingerprint { return Fingerprint{} }

// MethodAdmission says what a phone may do with a personal.command's method.
func MethodAdmission(method string) Admission { return MethodUnknown }

// Append appends m as one text message of at most MaxText bytes. An error is a
// bug of the caller: nothing was appended and nothing may be sent.
func Append(dst []byte, m Message) ([]byte, error) { return dst, errUnwritten }

// DecodeMessage reads a host's text message, as a client does. An error means
// that the client must drop the connection.
func DecodeMessage(text []byte) (Message, error) { return nil, errUnwritten }

// AppendHello appends a hello: what a client sends first.
func AppendHello(dst []byte, h Hello) ([]byte, error) { return dst, errUnwritten }

// AppendCommand appends a client.command that carries c.
func AppendCommand(dst []byte, requestID, connectionID string, c Control) ([]byte, error) {
	return dst, errUnwritten
}

// AppendAudioFrame appends a NOVA frame. pcm is PCM16, little endian, mono,
// 24 kHz: 2…MaxPCM bytes, even. An error is a bug of the caller. With room in
// dst it allocates nothing.
func AppendAudioFrame(dst []byte, h AudioHeader, pcm []byte) ([]byte, error) {
	return dst, errUnwritten
}

// DecodeAudioFrame reads a NOVA frame. pcm is a part of frame: copy it before
// the buffer is used again.
func DecodeAudioFrame(frame []byte) (h AudioHeader, pcm []byte, err error) {
	return AudioHeader{}, nil, errUnwritten
}

// SplitPCM yields pcm in pieces of at most MaxPCM bytes.
func SplitPCM(pcm []byte) func(yield func([]byte) bool) { return func(func([]byte) bool) {} }

// CheckUplinkPCM accepts a client's audio message: 2…MaxPCM bytes, even.
func CheckUplinkPCM(b []byte) error { return errUnwritten }

// DecodePairRedeem reads the one message of /client/pair.
func DecodePairRedeem(text []byte) (PairRedeem, error) { return PairRedeem{}, errUnwritten }

// DecodePairAdmin reads the one message of /client/pair-admin.
func DecodePairAdmin(text []byte) (PairRequest, error) { return nil, errUnwritten }

// AppendPairRequest appends a pairing request: what a client or the owner's tool
// sends.
func AppendPairRequest(dst []byte, r PairRequest) ([]byte, error) { return dst, errUnwritten }
