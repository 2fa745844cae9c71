package gate

import (
	"math"
	"slices"
)

// keptFiles is how many file descriptors are kept for everything but the
// listeners' connections: the database and its readers, calls to search services and
// models, files, the system's table of connections.
const keptFiles = 256

// Shares divides the file descriptors that this process may have among listeners, each
// of which wants that many connections: none gets more than it wants, and what one
// does not want goes to the others. So no crowd at one listener closes another.
func Shares(openFiles int, wants ...int) []int {
	if openFiles == Unlimited {
		return wants
	}
	left := openFiles - min(keptFiles, openFiles/2)
	shares := make([]int, len(wants))
	order := make([]int, len(wants)) // the most modest first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return wants[a] - wants[b] })
	for n, i := range order {
		shares[i] = min(wants[i], left/(len(order)-n))
		left -= shares[i]
	}
	return shares
}

// Within cuts limits down to a share, which is a number of file descriptors. At least
// one connection is left.
func (l Limits) Within(share int) Limits {
	if share >= l.Total() {
		return l
	}
	l.Spare = min(l.Spare, share/4)
	l.Connections = max(share-l.Spare, 1)
	l.Opening = min(l.Opening, max(l.Connections/2, 1))
	return l
}

// Unlimited is the number of open files where the system names none.
const Unlimited = math.MaxInt
