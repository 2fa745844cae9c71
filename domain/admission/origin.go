// Package admission decides who may open the NERVE WebSocket (decision D6). It
// is pure: it takes headers and what the registry knows, and gives a verdict.
package admission

import "strings"

// OriginClass sorts the Origin header of a request.
type OriginClass uint8

const (
	NoOrigin        OriginClass = iota // no header: a native tool
	ExtensionOrigin                    // chrome-extension, moz-extension, safari-web-extension
	ForeignOrigin                      // http, https, null, any other scheme, or several headers
)

// MaxOriginLength bounds an origin that is stored or shown, in bytes.
const MaxOriginLength = 200

// ClassifyOrigin looks at all Origin headers of a request. The scheme must be
// spelled in lower case and be followed by one host and nothing else, so that
// https://<extension id> and chrome-extension://<id>.evil.example/x never pass
// for an extension.
func ClassifyOrigin(headers []string) (origin string, class OriginClass) {
	switch len(headers) {
	case 0:
		return "", NoOrigin
	case 1:
	default:
		return "", ForeignOrigin
	}
	// What browsers use as an extension's host. It is not only Chromium's a to p,
	// since test IDs and other browsers use more.
	const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	origin = headers[0]
	for _, scheme := range []string{"chrome-extension://", "moz-extension://", "safari-web-extension://"} {
		if id, ok := strings.CutPrefix(origin, scheme); ok && id != "" && strings.Trim(id, idLetters) == "" && len(origin) <= MaxOriginLength {
			return origin, ExtensionOrigin
		}
	}
	return origin, ForeignOrigin
}
