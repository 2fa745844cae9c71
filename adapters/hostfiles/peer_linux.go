package hostfiles

import "golang.org/x/sys/unix"

func socketPeer(fd int) (uint32, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err // peerUID wraps it
	}
	return cred.Uid, nil
}
