package conversations

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// SubjectKey is what a topic about the page at a canonical address is found by:
// the address, or its hash when it is longer than MaxSubject (decision T1).
func SubjectKey(canonicalURL string) string {
	if CutUnits(canonicalURL, MaxSubject) == canonicalURL {
		return canonicalURL
	}
	sum := sha256.Sum256([]byte(canonicalURL))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// FreeTitle is prefix with the lowest number, from 1, that no title in use has.
func FreeTitle(prefix string, inUse []Conversation) string {
	taken := make(map[string]bool, len(inUse))
	for _, c := range inUse {
		taken[c.Title] = true
	}
	for n := 1; ; n++ {
		if title := prefix + " " + strconv.Itoa(n); !taken[title] {
			return title
		}
	}
}
