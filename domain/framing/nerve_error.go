package framing

import (
	"cmp"
	"fmt"
)

// ErrorKind is one of the six error kinds of NERVE V1, "Error Handling", in the
// order in which they are checked. They are never sent: the receiver logs the
// kind and closes the connection.
type ErrorKind uint8

const (
	InvalidMagic ErrorKind = iota + 1
	UnsupportedVersion
	UnknownMessageType
	PayloadTooLarge
	MalformedFrame
	InternalError
)

var errorKindNames = map[ErrorKind]string{
	InvalidMagic:       "InvalidMagic",
	UnsupportedVersion: "UnsupportedVersion",
	UnknownMessageType: "UnknownMessageType",
	PayloadTooLarge:    "PayloadTooLarge",
	MalformedFrame:     "MalformedFrame",
	InternalError:      "InternalError",
}

// String gives the document's name of the kind.
func (k ErrorKind) String() string { return cmp.Or(errorKindNames[k], "unknown") }

// FrameError is a broken frame. It ends the connection, not one request.
type FrameError struct{ Kind ErrorKind }

func (e *FrameError) Error() string { return "nerve frame: " + e.Kind.String() }

// Is makes every FrameError of one kind equal for errors.Is.
func (e *FrameError) Is(target error) bool {
	t, ok := target.(*FrameError)
	return ok && t.Kind == e.Kind
}

// One value per kind, so that refusing a frame allocates nothing.
var (
	errInvalidMagic       = &FrameError{InvalidMagic}
	errUnsupportedVersion = &FrameError{UnsupportedVersion}
	errUnknownMessageType = &FrameError{UnknownMessageType}
	errPayloadTooLarge    = &FrameError{PayloadTooLarge}
	errMalformedFrame     = &FrameError{MalformedFrame}
)

// ErrMalformedFrame is the error of a frame that ended too early or too late.
// Transports return it when the bytes stop inside a frame.
var ErrMalformedFrame error = errMalformedFrame

// QueryErrorKind is the second family: a SearchQuery payload that is refused.
// It ends one request; the connection stays (decision D1a).
type QueryErrorKind uint8

const (
	QueryJSON       QueryErrorKind = iota + 1 // syntax, UTF-8, types, ranges, missing or repeated members
	QueryVersion                              // v is not 1; Value holds v
	QueryEmpty                                // query is ""
	QueryMaxResults                           // max_results outside 1..100; Value holds it
)

var queryErrorKindNames = map[QueryErrorKind]string{
	QueryJSON:       "Json",
	QueryVersion:    "UnsupportedVersion",
	QueryEmpty:      "EmptyQuery",
	QueryMaxResults: "MaxResultsOutOfRange",
}

// String gives the schema's name of the kind.
func (k QueryErrorKind) String() string { return cmp.Or(queryErrorKindNames[k], "unknown") }

// QueryError says why a SearchQuery was refused. It never holds query text.
type QueryError struct {
	Kind   QueryErrorKind
	Value  uint32 // the number of QueryVersion and QueryMaxResults, else 0
	Detail string // a fixed phrase for the log, such as "member twice"; may be ""
}

func (e *QueryError) Error() string {
	s := "search query: " + e.Kind.String()
	if e.Kind == QueryVersion || e.Kind == QueryMaxResults {
		s = fmt.Sprintf("%s(%d)", s, e.Value)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
