package phone

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"plexus/adapters/hostfiles"
	"plexus/adapters/novaclient"
	"plexus/cmd/plexus/cli"
	"plexus/domain/nova"
	"plexus/domain/pairing"
	"plexus/domain/secret"
)

// maxCredentials bounds the state file, in bytes.
const maxCredentials = 4 << 10

// credentials is what a paired phone keeps.
type credentials struct {
	server   pairing.Server
	token    pairing.DeviceToken
	deviceID pairing.DeviceID
}

// credentialsFile is the same in phone.json.
type credentialsFile struct {
	Version  int    `json:"version"`
	Server   string `json:"server"`
	Token    string `json:"token"`
	DeviceID string `json:"device_id"`
}

// credentialsPath is $XDG_STATE_HOME/plexus/phone.json or its place by default.
func credentialsPath(getenv func(string) string) (string, error) {
	// Without HOME the second is no full path.
	for _, base := range []string{getenv("XDG_STATE_HOME"), filepath.Join(getenv("HOME"), ".local", "state"), getenv("LOCALAPPDATA")} {
		if filepath.IsAbs(base) {
			return filepath.Join(base, "plexus", "phone.json"), nil
		}
	}
	return "", fmt.Errorf("finding the phone's state: %w: set HOME or XDG_STATE_HOME", hostfiles.ErrNoHome)
}

// loadOrPair reads the state or, where there is none, redeems the payload: then
// isNew.
func loadOrPair(ctx context.Context, env cli.Env, o novaclient.Options, payloadFile, path string, input *bufio.Reader) (kept credentials, isNew bool, err error) {
	kept, err = readCredentials(path)
	switch {
	case err == nil:
		if payloadFile == "-" {
			_, err = input.ReadString('\n') // not to be taken for something to say
		}
		if payloadFile != "" {
			env.Errorf("This phone is paired with %s already; the invitation is not used. Remove %s to pair anew.\n", kept.server.Authority(), path)
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return kept, false, err
	case !errors.Is(err, fs.ErrNotExist):
		return credentials{}, false, err
	case payloadFile == "":
		return credentials{}, false, cli.Usagef("this phone is not paired yet. Make an invitation with plexus pair and give its text with --payload-file.")
	}
	kept, err = pair(ctx, env, o, payloadFile, path, input)
	return kept, true, err
}

func pair(ctx context.Context, env cli.Env, o novaclient.Options, payloadFile, path string, input *bufio.Reader) (credentials, error) {
	payload, err := readPayload(payloadFile, input)
	if err != nil {
		return credentials{}, err
	}
	invitation, err := novaclient.ParsePayload(payload, o.Profile, time.Now())
	if err != nil {
		return credentials{}, fmt.Errorf("reading the invitation: %w", err)
	}
	// Before the invitation is used up: a phone that cannot keep its token is lost.
	warnings, err := hostfiles.PrivateDir(filepath.Dir(path))
	if err != nil {
		return credentials{}, fmt.Errorf("making room for the phone's state: %w", err)
	}
	for _, warning := range warnings {
		env.Errorf("%s\n", warning)
	}
	o.Server = invitation.Server
	paired, err := novaclient.Redeem(ctx, o, invitation.Code, phoneName)
	if err != nil {
		return credentials{}, err
	}
	b, err := json.Marshal(credentialsFile{1, invitation.Server.String(), paired.Token.Reveal(), paired.DeviceID.String()})
	if err == nil {
		err = hostfiles.WriteFile(path, append(b, '\n'))
	}
	if err != nil {
		return credentials{}, fmt.Errorf("keeping the phone's state: %w", err)
	}
	return credentials{invitation.Server, paired.Token, paired.DeviceID}, nil
}

// readPayload reads a file, or the first line of the input.
func readPayload(name string, input *bufio.Reader) ([]byte, error) {
	if name == "-" {
		line, err := input.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading the invitation: %w", err)
		}
		return []byte(strings.TrimSpace(secret.Decode([]byte(line)))), nil
	}
	b, err := cli.ReadAtMost(name, nova.MaxPairText)
	if err != nil {
		return nil, fmt.Errorf("reading the invitation: %w", err)
	}
	return []byte(secret.Decode(b)), nil
}

// readCredentials refuses a file that others could have read. fs.ErrNotExist is
// in the error when there is none.
func readCredentials(path string) (credentials, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return credentials{}, fmt.Errorf("reading the phone's state: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return credentials{}, fmt.Errorf("reading the phone's state: %s is not a regular file; move it away and pair again", path)
	case info.Size() > maxCredentials:
		return credentials{}, fmt.Errorf("reading the phone's state: %s has more than %d bytes, so it is damaged; remove it and pair again", path, maxCredentials)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return credentials{}, fmt.Errorf("reading the phone's state: other accounts can read %s (mode %04o); remove the device on the host and pair again, or run chmod 600 on it if nobody else uses this machine", path, info.Mode().Perm())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return credentials{}, fmt.Errorf("reading the phone's state: %w", err)
	}
	var f credentialsFile
	parseErr := json.Unmarshal([]byte(secret.Decode(b)), &f)
	server, serverErr := pairing.ParseServer(f.Server)
	id, idErr := pairing.ParseDeviceID(f.DeviceID)
	if errors.Join(parseErr, serverErr, idErr) != nil || f.Version != 1 || !pairing.WellFormed(f.Token) {
		return credentials{}, fmt.Errorf("reading the phone's state: %s is damaged; remove it and pair again", path)
	}
	return credentials{server, pairing.DeviceToken{Text: secret.New(f.Token)}, id}, nil
}
