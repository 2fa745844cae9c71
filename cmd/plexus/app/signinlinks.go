package app

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

// signInLinks lets the owner's browser in to the page. The secret of a link goes into
// a private file that sends the browser on, so that it is never a process
// argument; the file lives no longer than the link.
type signInLinks struct {
	signIn *signin.Issuer
	page   string // http://127.0.0.1:9010/
	dir    string // private
	log    *slog.Logger

	stop  chan struct{}
	files sync.WaitGroup
}

const linkFilePattern = "sign-in-*.html"

// newSignInLinks removes what a crash may have left.
func newSignInLinks(signIn *signin.Issuer, page, dir string, log *slog.Logger) (*signInLinks, error) {
	if _, err := hostfiles.PrivateDir(dir); err != nil {
		return nil, fmt.Errorf("folder for signing in: %w", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("folder for signing in: %w", err)
	}
	for _, e := range left { // no Glob: the folder's own name may hold a bracket
		if ours, err := filepath.Match(linkFilePattern, e.Name()); err != nil || !ours {
			continue
		}
		if err := hostfiles.Remove(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return &signInLinks{signIn: signIn, page: page, dir: dir, log: log, stop: make(chan struct{})}, nil
}

// SignInLink implements adminapi.SignIn.
func (l *signInLinks) SignInLink() (adminapi.SignInLink, error) {
	token, err := l.signIn.Link()
	if err != nil {
		return adminapi.SignInLink{}, err
	}
	path, err := writeLinkFile(l.dir, l.page+"#open="+token.Secret.Reveal())
	if err != nil {
		return adminapi.SignInLink{}, fmt.Errorf("write the file that signs in: %w", err)
	}
	l.files.Go(func() {
		limit := time.NewTimer(time.Until(token.Expires))
		defer limit.Stop()
		select {
		case <-token.Used:
		case <-limit.C:
		case <-l.stop:
		}
		if err := hostfiles.Remove(path); err != nil {
			l.log.Error("a file that signs in could not be removed; its link is void", "error", err)
		}
	})
	return adminapi.SignInLink{Page: l.page, File: path}, nil
}

// SignInCode implements adminapi.SignIn.
func (l *signInLinks) SignInCode() (adminapi.SignInCode, error) {
	token, err := l.signIn.Code()
	if err != nil {
		return adminapi.SignInCode{}, err
	}
	return adminapi.SignInCode{Page: l.page, Code: token.Secret.Reveal(), ExpiresAt: token.Expires.UTC()}, nil
}

// close removes every file that is left.
func (l *signInLinks) close() error {
	close(l.stop)
	l.files.Wait()
	return nil
}

// writeLinkFile makes a page, readable by the owner alone, that goes to address.
func writeLinkFile(dir, address string) (path string, err error) {
	file, err := os.CreateTemp(dir, linkFilePattern) // O_EXCL, 0600
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
