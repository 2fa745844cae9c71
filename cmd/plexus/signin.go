package main

import (
	"errors"
	"fmt"
	"html"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plexus/adapters/adminapi"
	"plexus/adapters/adminweb/signin"
	"plexus/adapters/hostfiles"
)

// doorman lets the owner's browser in to the page. The secret of a link goes into
// a private file that sends the browser on, so that it is never a process
// argument; the file lives no longer than the link.
type doorman struct {
	signIn *signin.Issuer
	page   string // http://127.0.0.1:9010/
	dir    string // private
	log    *slog.Logger

	stop  chan struct{}
	files sync.WaitGroup
}

const ticketPattern = "sign-in-*.html"

// newDoorman removes what a crash may have left.
func newDoorman(signIn *signin.Issuer, page, dir string, log *slog.Logger) (*doorman, error) {
	if _, err := hostfiles.PrivateDir(dir); err != nil {
		return nil, fmt.Errorf("folder for signing in: %w", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("folder for signing in: %w", err)
	}
	for _, e := range left { // no Glob: the folder's own name may hold a bracket
		if ours, err := filepath.Match(ticketPattern, e.Name()); err != nil || !ours {
			continue
		}
		if err := hostfiles.Remove(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return &doorman{signIn: signIn, page: page, dir: dir, log: log, stop: make(chan struct{})}, nil
}

// SignInLink implements adminapi.Owner.
func (d *doorman) SignInLink() (adminapi.SignInLink, error) {
	token, err := d.signIn.Link()
	if err != nil {
		return adminapi.SignInLink{}, err
	}
	path, err := writeTicket(d.dir, d.page+"#open="+token.Secret.Reveal())
	if err != nil {
		return adminapi.SignInLink{}, fmt.Errorf("write the file that signs in: %w", err)
	}
	d.files.Go(func() {
		limit := time.NewTimer(time.Until(token.Expires))
		defer limit.Stop()
		select {
		case <-token.Used:
		case <-limit.C:
		case <-d.stop:
		}
		if err := hostfiles.Remove(path); err != nil {
			d.log.Error("a file that signs in could not be removed; its link is void", "error", err)
		}
	})
	return adminapi.SignInLink{Page: d.page, File: path}, nil
}

// SignInCode implements adminapi.Owner.
func (d *doorman) SignInCode() (adminapi.SignInCode, error) {
	token, err := d.signIn.Code()
	if err != nil {
		return adminapi.SignInCode{}, err
	}
	return adminapi.SignInCode{Page: d.page, Code: token.Secret.Reveal(), ExpiresAt: token.Expires.UTC()}, nil
}

// close removes every file that is left.
func (d *doorman) close() error {
	close(d.stop)
	d.files.Wait()
	return nil
}

// writeTicket makes a page, readable by the owner alone, that goes to address.
func writeTicket(dir, address string) (path string, err error) {
	file, err := os.CreateTemp(dir, ticketPattern) // O_EXCL, 0600
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(file, `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=%s">
<title>Plexus</title>
`, html.EscapeString(address))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}
