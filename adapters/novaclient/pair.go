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

// Redeem pairs a device: one request over a socket of its own, and one answer. It
// looks at o's way to the server alone. If the answer is lost, the invitation may be
// used up; there is no second try.
func Redeem(ctx context.Context, o Options, code pairing.Code, deviceName string) (paired Paired, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("pair with the host: %w", err)
		}
	}()
	ctx, stop := context.WithTimeout(ctx, pairWithin)
	defer stop()
	request, err := nova.AppendPairRequest(nil, nova.PairRedeem{Code: code.Text, DeviceName: deviceName})
	if err != nil {
		return paired, err
	}
	ws, err := o.open(ctx, pairPath, nova.MaxPairText)
	if err != nil {
		return paired, err
	}
	defer func() { _ = ws.CloseNow() }() // the host closes by itself; there is nothing to wait for
	if err := ws.Write(ctx, websocket.MessageText, request); err != nil {
		return paired, endOf(err, nil)
	}
	kind, text, err := ws.Read(ctx)
	if err != nil {
		return paired, endOf(err, nil)
	}
	m, err := nova.DecodePairAnswer(text)
	if err != nil || kind != websocket.MessageText && o.Profile != IOS {
		return paired, ErrAnswer
	}
	if _, refused := m.(nova.PairError); refused {
		return paired, ErrPairRefused
	}
	answer, ok := m.(nova.PairReady)
	if !ok {
		return paired, ErrAnswer
	}
	id, err := pairing.ParseDeviceID(answer.DeviceID)
	if err != nil {
		return paired, ErrAnswer
	}
	return Paired{pairing.DeviceToken{Text: answer.Token}, id}, nil
}
