package app

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plexus/adapters/adminweb/signin"
	"plexus/domain/secret"
)

const ownerPage = "http://127.0.0.1:9010/"

func newTestLinks(t *testing.T, dir string) (*signInLinks, *signin.Issuer) {
	t.Helper()
	signIn := signin.NewIssuer(time.Now, rand.Reader)
	d, err := newSignInLinks(signIn, ownerPage, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return d, signIn
}

// privateDir has a name that means something to filepath.Glob.
func privateDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a[b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func there(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestSignInLinksRemovesWhatACrashHasLeftAndNothingElse(t *testing.T) {
	dir := privateDir(t)
	left, other := filepath.Join(dir, "sign-in-123.html"), filepath.Join(dir, "notes.html")
	for _, path := range []string{left, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, _ := newTestLinks(t, dir)
	if there(t, left) || !there(t, other) {
		t.Error("the file of an old link is there, or another one is gone")
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// The file is readable by the owner alone, holds the one secret, and lives no
// longer than it.
func TestALinksFileLivesAsLongAsItsLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, signIn := newTestLinks(t, privateDir(t))
		write := func() (path, text string) {
			link, err := d.SignInLink()
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(link.File)
			if err != nil || info.Mode() != 0o600 || link.Page != ownerPage {
				t.Fatalf("%v, %v, page %s", info, err, link.Page)
			}
			content, err := os.ReadFile(link.File)
			if err != nil {
				t.Fatal(err)
			}
			return link.File, string(content)
		}
		taken, text := write()
		held := regexp.MustCompile(`url=http://127\.0\.0\.1:9010/#open=([0-9a-f]{64})"`).FindStringSubmatch(text)
		if held == nil || strings.Contains(taken, held[1]) || !signIn.RedeemLink(secret.New(held[1])) {
			t.Fatalf("%s holds no link that signs in:\n%s", taken, text)
		}
		synctest.Wait()
		late, _ := write()
		if there(t, taken) || !there(t, late) {
			t.Error("a file is there after its link was used, or gone before")
		}
		time.Sleep(signin.TokenLife)
		synctest.Wait()
		open, _ := write()
		if there(t, late) || !there(t, open) {
			t.Error("a file is there after its link's minute, or gone before")
		}
		if err := d.close(); err != nil || there(t, open) {
			t.Errorf("a file outlives the host: %v", err)
		}
	})
}
