package hostfiles

import "io/fs"

// Windows: access lists of the profile directory keep other accounts out, and
// its mode bits say nothing.
const openFlags = 0

func ownedByUs(fs.FileInfo) bool { return true }

func accessibleToOthers(fs.FileInfo) bool { return false }

func isSymlinkError(error) bool { return false }

// syncDir does nothing: a directory handle cannot be flushed here.
func syncDir(string) error { return nil }
