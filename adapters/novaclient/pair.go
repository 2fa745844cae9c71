package novaclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"plexus/domain/nova"
	"plexus/domain/pairing"
)

// Why a device is not paired.
var (
	ErrPayload = errors.New("this is no invitation of a Nova host")
	ErrTooLate = errors.New("the invitation is out of date")
	ErrAnswer  = errors.New("the host's answer cannot be understood")
	// ErrPairRefused: the host says no, and never why.
	ErrPairRefused = errors.New("the host refused: the invitation is used, replaced or cancelled, or it cannot take a device now")
)

// Invitation is what a QR code says.
type Invitation struct {
	Server pairing.Server
	Code   pairing.Code
}

// ParsePayload reads the text of a QR code. The error is ErrPayload, ErrTooLate
// or a *pairing.AddressError. IOS insists on an expiry in the future; Flutter
// looks at one if it is there.
func ParsePayload(text []byte, p Profile, now time.Time) (Invitation, error) {
	m, err := nova.DecodePairAnswer(text)
	payload, ok := m.(nova.Invitation)
	switch {
	case err != nil || !ok || p == IOS && !payload.ExpiresAt.Set:
		return Invitation{}, ErrPayload
	case payload.ExpiresAt.Set && int64(payload.ExpiresAt.Value) <= now.UnixMilli():
		return Invitation{}, ErrTooLate
	}
	server, err := pairing.ParseServer(payload.Server)
	if err != nil {
		return Invitation{}, err
	}
	return Invitation{server, pairing.Code{Text: payload.Code}}, nil
}

// Paired is what a device keeps.
type Paired struct {
	Token    pairing.DeviceToken
	DeviceID pairing.DeviceID
}

// Redeem pairs a device. It looks at o's way to the server alone. If the answer
// is lost, the invitation may be used up; there is no second try.
func Redeem(ctx context.Context, o Options, code pairing.Code, deviceName string) (Paired, error) {
	ready, err := exchange[nova.PairReady](ctx, o, pairPath, nova.PairRedeem{Code: code.Text, DeviceName: deviceName})
	if err != nil {
		return Paired{}, fmt.Errorf("pair with the host: %w", err)
	}
	id, err := pairing.ParseDeviceID(ready.DeviceID)
	if err != nil {
		return Paired{}, fmt.Errorf("pair with the host: %w", ErrAnswer)
	}
	return Paired{pairing.DeviceToken{Text: ready.Token}, id}, nil
}

// Admin manages a host's devices over its client listener, as tools do.
type Admin struct {
	Options Options // Token is not used
	Master  pairing.MasterToken
}

// Create opens an invitation to server, replacing an open one.
func (a Admin) Create(ctx context.Context, server string) (Invitation, error) {
	answer, err := exchange[nova.Invitation](ctx, a.Options, adminPath, nova.PairCreate{Token: a.Master.Text, Server: server})
	if err != nil {
		return Invitation{}, fmt.Errorf("create an invitation: %w", err)
	}
	checked, err := pairing.ParseServer(answer.Server)
	if err != nil {
		return Invitation{}, fmt.Errorf("create an invitation: %w", err)
	}
	return Invitation{checked, pairing.Code{Text: answer.Code}}, nil
}

// List gives the devices, and whether the code, which may be empty, is open.
func (a Admin) List(ctx context.Context, code pairing.Code) (nova.PairDevices, error) {
	return a.devices(ctx, "list the devices", nova.PairList{Token: a.Master.Text, Code: code.Text})
}

// Revoke removes a device and gives those that remain.
func (a Admin) Revoke(ctx context.Context, id pairing.DeviceID) (nova.PairDevices, error) {
	return a.devices(ctx, "remove a device", nova.PairRevoke{Token: a.Master.Text, DeviceID: id.String()})
}

// Cancel closes the invitation of this code, if it is the open one.
func (a Admin) Cancel(ctx context.Context, code pairing.Code) (nova.PairDevices, error) {
	return a.devices(ctx, "cancel an invitation", nova.PairCancel{Token: a.Master.Text, Code: code.Text})
}

func (a Admin) devices(ctx context.Context, what string, r nova.PairRequest) (nova.PairDevices, error) {
	answer, err := exchange[nova.PairDevices](ctx, a.Options, adminPath, r)
	if err != nil {
		return answer, fmt.Errorf("%s: %w", what, err)
	}
	return answer, nil
}

// exchange sends the one request of a pairing socket and reads its one answer,
// which has to be an A.
func exchange[A nova.Message](ctx context.Context, o Options, path string, r nova.PairRequest) (answer A, err error) {
	ctx, stop := context.WithTimeout(ctx, pairWithin)
	defer stop()
	request, err := nova.AppendPairRequest(nil, r)
	if err != nil {
		return answer, err
	}
	limit := int64(nova.MaxText)
	if path == pairPath {
		limit = nova.MaxPairText // a phone gets less than a list of devices
	}
	ws, err := o.open(ctx, path, limit)
	if err != nil {
		return answer, err
	}
	defer func() { _ = ws.CloseNow() }() // the host closes by itself; there is nothing to wait for
	if err := ws.Write(ctx, websocket.MessageText, request); err != nil {
		return answer, endOf(err, nil)
	}
	kind, text, err := ws.Read(ctx)
	if err != nil {
		return answer, endOf(err, nil)
	}
	m, err := nova.DecodePairAnswer(text)
	if err != nil || kind != websocket.MessageText && o.Profile != IOS {
		return answer, ErrAnswer
	}
	if _, refused := m.(nova.PairError); refused {
		return answer, ErrPairRefused
	}
	answer, ok := m.(A)
	if !ok {
		return answer, ErrAnswer
	}
	return answer, nil
}
