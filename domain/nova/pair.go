package nova

import (
	"fmt"
	"strings"
	"unicode"

	"plexus/domain/nova/jsonform"
)

// PairRequest is the one message of a pairing socket: PairRedeem on
// /client/pair, the others on /client/pair-admin.
type PairRequest interface {
	// Kind is the request's name on the wire.
	Kind() string
	request() schema // a copy, with its schema
}

// PairRedeem asks for a device's own token.
type PairRedeem struct {
	Code       Secret // 32 lower-case hex digits
	DeviceName string // trimmed, 1…80 UTF-16 units, no control characters
}

// PairCreate opens an invitation to a server address.
type PairCreate struct {
	Token  Secret // as sent, to be held against the master token
	Server string // as sent, to be checked by its rule
}

// PairList asks for the devices.
type PairList struct {
	Token Secret
	Code  Secret // empty when none was given; asks whether it is still open
}

// PairRevoke removes a device.
type PairRevoke struct {
	Token    Secret
	DeviceID string // UUID
}

// PairCancel closes an invitation.
type PairCancel struct {
	Token Secret
	Code  Secret
}

func (PairRedeem) Kind() string { return "pair.redeem" }
func (PairCreate) Kind() string { return "pair.create" }
func (PairList) Kind() string   { return "pair.list" }
func (PairRevoke) Kind() string { return "pair.revoke" }
func (PairCancel) Kind() string { return "pair.cancel" }

func (r PairRedeem) request() schema { return &r }
func (r PairCreate) request() schema {
	return &adminRequest{kind: r.Kind(), token: r.Token, server: r.Server}
}
func (r PairList) request() schema {
	return &adminRequest{kind: r.Kind(), token: r.Token, code: r.Code}
}
func (r PairRevoke) request() schema {
	return &adminRequest{kind: r.Kind(), token: r.Token, deviceID: r.DeviceID}
}
func (r PairCancel) request() schema {
	return &adminRequest{kind: r.Kind(), token: r.Token, code: r.Code}
}

// MaxDevices is how many devices a host registers.
const MaxDevices = 32

// PairReady is pair.ready, the answer to a good code.
type PairReady struct {
	Token    Secret // 32 lower-case hex digits
	DeviceID string // UUID
}

// PairError is pair.error. Its text is the same for every cause.
type PairError struct{}

// PairDevices is pair.devices.
type PairDevices struct {
	Devices []PairedDevice
	Active  bool // the code that was asked about is open
}

// PairedDevice is one entry of pair.devices.
type PairedDevice struct {
	ID        string // UUID
	Name      string
	CreatedAt uint64 // Unix time in milliseconds
}

// Invitation is nova.pair, what the QR code says.
type Invitation struct {
	Server    string           // wss://host/client/v1
	Code      Secret           // 32 lower-case hex digits
	ExpiresAt Optional[uint64] // Unix time in milliseconds; for one old client only
}

func (PairReady) Type() string   { return "pair.ready" }
func (PairError) Type() string   { return "pair.error" }
func (PairDevices) Type() string { return "pair.devices" }
func (Invitation) Type() string  { return "nova.pair" }

func (m PairReady) message() schema   { return &m }
func (m PairError) message() schema   { return &m }
func (m PairDevices) message() schema { return &m }
func (m Invitation) message() schema  { return &m }

func (r *PairRedeem) form(f *jsonform.Form) {
	formSecret(f, "code", jsonform.Required, &r.Code, hex128)
	f.Text("device_name", jsonform.Required, &r.DeviceName, deviceName)
	r.DeviceName = strings.TrimFunc(r.DeviceName, jsonform.IsTrimmed)
}

func deviceName(s string) bool {
	s = strings.TrimFunc(s, jsonform.IsTrimmed)
	return jsonform.Units(1, 80)(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// adminRequest is every request of the owner: one schema, in which each takes
// what it needs.
type adminRequest struct {
	kind             string
	token, code      Secret
	server, deviceID string
}

func (r *adminRequest) form(f *jsonform.Form) {
	formSecret(f, "token", jsonform.Required, &r.token, jsonform.Anything)
	f.Text("server", jsonform.Omitted, &r.server, jsonform.Anything)
	f.Text("device_id", jsonform.Omitted, &r.deviceID, uuid)
	formSecret(f, "code", jsonform.Omitted, &r.code, hex128)
	f.Want("server", r.kind != "pair.create" || r.server != "")
	f.Want("device_id", r.kind != "pair.revoke" || r.deviceID != "")
	f.Want("code", r.kind != "pair.cancel" || !r.code.Empty())
}

// DecodePairRedeem reads the one message of /client/pair. An error is answered
// with PairError, whatever it says.
func DecodePairRedeem(text []byte) (PairRedeem, error) {
	var r PairRedeem
	if err := readStrict(text, &r, new(string), r.Kind()); err != nil {
		return PairRedeem{}, fmt.Errorf("nova: read pair.redeem: %w", err)
	}
	return r, nil
}

// DecodePairAdmin reads the one message of /client/pair-admin. An error is
// answered with PairError, whatever it says.
func DecodePairAdmin(text []byte) (PairRequest, error) {
	var r adminRequest
	if err := readStrict(text, &r, &r.kind, "pair.create", "pair.list", "pair.revoke", "pair.cancel"); err != nil {
		return nil, fmt.Errorf("nova: read pair-admin request: %w", err)
	}
	switch r.kind {
	case "pair.create":
		return PairCreate{r.token, r.server}, nil
	case "pair.list":
		return PairList{r.token, r.code}, nil
	case "pair.revoke":
		return PairRevoke{r.token, r.deviceID}, nil
	}
	return PairCancel{r.token, r.code}, nil
}

// readStrict reads v, whose type is to be one of kinds.
func readStrict(text []byte, v schema, kind *string, kinds ...string) error {
	if len(text) > MaxPairText {
		return ErrTooLong
	}
	f := jsonform.Read(text).Strict()
	jsonform.Choice(f, "type", jsonform.Required, kind, kinds...)
	v.form(f)
	_, err := f.Done()
	return err
}

// AppendPairRequest appends a pairing request: what a client or the owner's tool
// sends.
func AppendPairRequest(dst []byte, r PairRequest) ([]byte, error) {
	return appendObject(dst, r.Kind(), MaxPairText, r.request())
}

func (m *PairReady) form(f *jsonform.Form) {
	formSecret(f, "token", jsonform.Required, &m.Token, hex128)
	f.Text("device_id", jsonform.Required, &m.DeviceID, uuid)
}

// pairFailed is the text of every refusal, so that the caller cannot tell the
// causes apart.
const pairFailed = "pairing failed"

func (m *PairError) form(f *jsonform.Form) {
	message := pairFailed
	f.Text("message", jsonform.Required, &message, jsonform.Anything)
}

func (m *PairDevices) form(f *jsonform.Form) {
	jsonform.List(f, "devices", &m.Devices, 0, MaxDevices, func(f *jsonform.Form, d *PairedDevice) {
		f.Text("id", jsonform.Required, &d.ID, uuid)
		f.Text("name", jsonform.Required, &d.Name, deviceName)
		f.Uint("created_at", &d.CreatedAt, 0, MaxSafeInteger)
	})
	f.Bool("pairing_active", &m.Active)
}

func (m *Invitation) form(f *jsonform.Form) {
	version := uint64(1)
	f.Uint("version", &version, version, version)
	f.Text("server", jsonform.Required, &m.Server, jsonform.Units(1, 2048))
	formSecret(f, "code", jsonform.Required, &m.Code, hex128)
	f.OptionalUint("expires_at", jsonform.Omitted, &m.ExpiresAt, 0, MaxSafeInteger)
}

// DecodePairAnswer reads the answer to a pairing request, or the text of a QR
// code: PairReady, PairError, PairDevices or Invitation. Unknown members are
// ignored.
func DecodePairAnswer(text []byte) (Message, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("nova: read pairing answer: %w", ErrTooLong)
	}
	f := jsonform.Read(text)
	kind, _ := f.Peek("type")
	read := readMessage[Invitation]
	switch kind {
	case "pair.ready":
		read = readMessage[PairReady]
	case "pair.error":
		read = readMessage[PairError]
	case "pair.devices":
		read = readMessage[PairDevices]
	default:
		f.Kind(Invitation{}.Type())
	}
	m, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("nova: read pairing answer: %w", err)
	}
	return m, nil
}
