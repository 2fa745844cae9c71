package hostfiles

import "errors"

// ErrPeerUnknown: the kernel's table holds no such connection, for instance
// because the peer is gone already or lives in another network namespace.
var ErrPeerUnknown = errors.New("the account of the TCP peer is unknown")
