package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// vitals describes this process, after a collection.
func vitals() Vitals {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	v := Vitals{Mallocs: m.Mallocs, HeapInUse: m.HeapInuse, Goroutines: runtime.NumGoroutine()}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		v.Files = len(files)
	}
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		v.Resident = residentOf(string(status))
	}
	return v
}

// residentOf reads VmRSS, in KiB, from a status file of /proc.
func residentOf(status string) int {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err == nil {
				return n
			}
		}
	}
	return 0
}
