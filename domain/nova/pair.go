package nova

// PairRequest is the one message of a pairing socket: *PairRedeem on
// /client/pair, the others on /client/pair-admin.
type PairRequest interface{ pairRequest() }

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

func (PairRedeem) pairRequest() {}
func (PairCreate) pairRequest() {}
func (PairList) pairRequest()   {}
func (PairRevoke) pairRequest() {}
func (PairCancel) pairRequest() {}

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
