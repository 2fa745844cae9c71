package novaws

import "slices"

// maxDetails is for how many tasks the last detail is remembered.
const maxDetails = 64

// details remembers what was last told of each task, so that the same is not
// told again. The least recently told task is forgotten first.
type details []detail

type detail struct{ work, summary string }

// repeat reports whether summary is what was last told of work.
func (d details) repeat(work, summary string) bool {
	return slices.Contains(d, detail{work, summary})
}

func (d *details) remember(work, summary string) {
	d.forget(work)
	if len(*d) == maxDetails {
		*d = slices.Delete(*d, 0, 1)
	}
	*d = append(*d, detail{work, summary})
}

func (d *details) forget(work string) {
	*d = slices.DeleteFunc(*d, func(t detail) bool { return t.work == work })
}
