package cli

import (
	"crypto/x509"
	"fmt"
	"io"
	"os"
)

// ReadRoots reads the certificate authorities of --ca-file; nil without one.
func ReadRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authorities: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the certificate authorities: there is none in %s", path)
	}
	return roots, nil
}

// ReadAtMost reads the first limit bytes of a file, or all of a shorter one: a device
// or a wrong file named by mistake must not take all memory.
func ReadAtMost(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err // it names the path
	}
	defer file.Close() // opened for reading
	return io.ReadAll(io.LimitReader(file, limit))
}
