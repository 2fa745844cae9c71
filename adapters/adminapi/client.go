package adminapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"plexus/domain/secret"
)

// maxAnswer bounds what the client reads, in bytes.
const maxAnswer = 16 << 20

// clientLimit bounds one call.
const clientLimit = 30 * time.Second

// ErrUnreachable: no host could be reached; nothing was sent.
var ErrUnreachable = errors.New("the host does not answer")

// ErrTokenRefused: the host does not take the master token.
var ErrTokenRefused = errors.New("the host does not take the master token of this data directory")

// Client asks a running host. Every method makes one request, and fails with
// ErrUnreachable when there is no host to ask.
type Client struct {
	http *http.Client
	base string      // URL before the paths of this package
	key  secret.Text // sent as a bearer; may be none
}

// NewClient builds a client over dial, which has to make sure that the socket
// and its listener belong to the owner's account.
func NewClient(dial func(ctx context.Context) (net.Conn, error)) *Client {
	return &Client{http: httpClient(dial), base: "http://plexus"}
}

// NewTCPClient builds a client of the owner's page at address, host:port, which
// takes the master token. The caller makes sure that the host has that port. A
// host that does not take the token is ErrTokenRefused.
func NewTCPClient(address string, master secret.Text) *Client {
	dial := func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, fmt.Errorf("connecting to the owner's page: %w", err)
		}
		return conn, nil
	}
	return &Client{http: httpClient(dial), base: "http://" + address + "/api", key: master}
}

func httpClient(dial func(ctx context.Context) (net.Conn, error)) *http.Client {
	return &http.Client{
		Timeout: clientLimit,
		// The token is for this host alone, which never redirects.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				conn, err := dial(ctx)
				if err != nil {
					return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
				}
				return conn, nil
			},
			DisableKeepAlives: true,
		},
	}
}

// Status asks for the status of the host; package status defines its shape.
func Status[Report any](c *Client, ctx context.Context) (Report, error) {
	return call[Report](ctx, c, http.MethodGet, "/v1/status")
}

// Extensions lists all rows by ID.
func (c *Client) Extensions(ctx context.Context) ([]Extension, error) {
	return call[[]Extension](ctx, c, http.MethodGet, "/v1/extensions")
}

// AllowExtension lets a row in. Unknown is ports.ErrExtensionUnknown.
func (c *Client) AllowExtension(ctx context.Context, id int64) (Extension, error) {
	return call[Extension](ctx, c, http.MethodPost, rowPath(id, "allow"))
}

// RemoveExtension blocks a row and ends its connections. Unknown is
// ports.ErrExtensionUnknown.
func (c *Client) RemoveExtension(ctx context.Context, id int64) (Extension, error) {
	return call[Extension](ctx, c, http.MethodPost, rowPath(id, "remove"))
}

// ForgetExtension deletes a row, so that its next visit waits like a first one.
// Unknown is ports.ErrExtensionUnknown.
func (c *Client) ForgetExtension(ctx context.Context, id int64) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, rowPath(id, "forget"))
	return err
}

// Devices lists the paired phones in the order they were paired.
func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	return call[[]Device](ctx, c, http.MethodGet, "/v1/devices")
}

// RevokeDevice removes a phone and ends its connections. Unknown is
// ports.ErrDeviceUnknown.
func (c *Client) RevokeDevice(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, "/v1/devices/"+url.PathEscape(id)+"/revoke")
	return err
}

// RenameDevice gives a phone another name. One that cannot be used is a
// pairing.ErrDeviceName, an unknown phone ports.ErrDeviceUnknown.
func (c *Client) RenameDevice(ctx context.Context, id, name string) error {
	query := url.Values{"name": {name}}
	_, err := call[struct{}](ctx, c, http.MethodPost, "/v1/devices/"+url.PathEscape(id)+"/rename?"+query.Encode())
	return err
}

// LetDeviceIn ends the connection of any other phone and keeps the place for this
// one. Unknown is ports.ErrDeviceUnknown.
func (c *Client) LetDeviceIn(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, http.MethodPost, "/v1/devices/"+url.PathEscape(id)+"/let-in")
	return err
}

// Invite opens an invitation to a server, or to the public URL when it is "".
// legacy asks for a payload with an expiry, keep makes the server the public URL at
// once. A bad address is a *pairing.AddressError; else ErrNoPublicURL,
// ports.ErrDeviceLimit, or devices.ErrSettingFixed where the public URL is set elsewhere.
func (c *Client) Invite(ctx context.Context, server string, legacy, keep bool) (Invitation, error) {
	query := url.Values{"server": {server}, "legacy": {strconv.FormatBool(legacy)}, "keep": {strconv.FormatBool(keep)}}
	return call[Invitation](ctx, c, http.MethodPost, "/v1/invitations?"+query.Encode())
}

// Outcome says what became of an invitation. While it is open the call is held for
// some seconds, and its answer is then "waiting": ask again.
func (c *Client) Outcome(ctx context.Context, id string) (Outcome, error) {
	return call[Outcome](ctx, c, http.MethodGet, "/v1/invitations/"+url.PathEscape(id))
}

// CancelInvitation closes an invitation and says whether it was open.
func (c *Client) CancelInvitation(ctx context.Context, id string) (bool, error) {
	done, err := call[Canceled](ctx, c, http.MethodPost, "/v1/invitations/"+url.PathEscape(id)+"/cancel")
	return done.Canceled, err
}

// RotateToken makes a new host token, which is written to the token file.
func (c *Client) RotateToken(ctx context.Context) (Rotated, error) {
	return call[Rotated](ctx, c, http.MethodPost, "/v1/token/rotate")
}

// Pages lists at most limit (1..MaxPages) pages, newest first.
func (c *Client) Pages(ctx context.Context, limit int) ([]Page, error) {
	return call[[]Page](ctx, c, http.MethodGet, "/v1/pages?"+url.Values{"limit": {strconv.Itoa(limit)}}.Encode())
}

// ClearPages empties the page index and says how many pages it held.
func (c *Client) ClearPages(ctx context.Context) (int, error) {
	cleared, err := call[Cleared](ctx, c, http.MethodPost, "/v1/pages/clear")
	return cleared.Pages, err
}

// ForgetPage forgets the page at an address, and its topic.
func (c *Client) ForgetPage(ctx context.Context, address string) (Forgotten, error) {
	return call[Forgotten](ctx, c, http.MethodPost, "/v1/pages/forget?"+url.Values{"url": {address}}.Encode())
}

// ForgetSite forgets the pages of a site, and their topics.
func (c *Client) ForgetSite(ctx context.Context, site string) (Forgotten, error) {
	return call[Forgotten](ctx, c, http.MethodPost, "/v1/pages/forget?"+url.Values{"site": {site}}.Encode())
}

// Sites lists the excluded sites.
func (c *Client) Sites(ctx context.Context) ([]string, error) {
	return call[[]string](ctx, c, http.MethodGet, "/v1/sites")
}

// ExcludeSite keeps nothing of a site from now on, and gives all that are excluded. A
// full list is topics.ErrSitesFull.
func (c *Client) ExcludeSite(ctx context.Context, site string) ([]string, error) {
	return call[[]string](ctx, c, http.MethodPost, "/v1/sites/exclude?"+url.Values{"site": {site}}.Encode())
}

// IncludeSite takes an ExcludeSite back.
func (c *Client) IncludeSite(ctx context.Context, site string) ([]string, error) {
	return call[[]string](ctx, c, http.MethodPost, "/v1/sites/include?"+url.Values{"site": {site}}.Encode())
}

func rowPath(id int64, verb string) string {
	return "/v1/extensions/" + strconv.FormatInt(id, 10) + "/" + verb
}

func call[T any](ctx context.Context, c *Client, method, path string) (value T, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return value, fmt.Errorf("asking the host: %w", err)
	}
	if !c.key.Empty() {
		req.Header.Set("Authorization", "Bearer "+c.key.Reveal())
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return value, fmt.Errorf("asking the host: %w", err)
	}
	defer resp.Body.Close() // read to its end below
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return value, fmt.Errorf("reading the host's answer: %w", err)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return value, ErrTokenRefused
	case http.StatusNoContent:
		return value, nil
	case http.StatusOK:
		if err := json.Unmarshal(body, &value); err != nil {
			return value, fmt.Errorf("reading the host's answer: %w", err)
		}
		return value, nil
	}
	var f Fault
	if err := json.Unmarshal(body, &f); err != nil {
		f = Fault{Code: "failed", Message: resp.Status}
	}
	return value, errorOf(f)
}
