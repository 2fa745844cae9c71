package doctor

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// freeBytes is the room that this account may use where path is.
func freeBytes(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, fmt.Errorf("ask for free room: %w", err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("ask for free room: %w", err)
	}
	return int64(min(free, 1<<62)), nil
}
