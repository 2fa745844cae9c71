package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"plexus/domain/nova"
	"plexus/domain/workbench"
	"plexus/ports"
)

// Value is the value of a member of the snapshot.
type Value struct {
	// Fixed is encoded as it is, without List. json.RawMessage is taken without a
	// check. A value that is nothing but its List has none.
	Fixed any
	// AtLeast is a lower bound of Fixed's bytes: a phone's snapshot that cannot fit is
	// not encoded at all.
	AtLeast int
	// List grows with what is stored, and is cut to what there is room for; nil: none.
	List *List
}

// List is the rows of a member that there may be no room for. They stand in the
// list, empty in Value.Fixed, with which Fixed ends.
//
// Lists are filled from the last member to the first. Of each the newest rows are
// shown, and one that is Counted gets none after another Counted one was cut
// (decision K13).
type List struct {
	// Rows adds rows, the newest first, until add says that there is no room. An error
	// is one of the store's.
	Rows func(add func(row any) bool) error
	// OldestFirst is the order on the wire.
	OldestFirst bool
	// Closing is the text of Fixed behind the bracket that closes the list.
	Closing string
	// Counted: Len is how many rows there are, and the number of missing rows is
	// logged.
	Counted bool
	Len     int
}

// Constant is the section of a member that is always the same JSON text.
func Constant(text string) Section {
	v := Value{Fixed: json.RawMessage(text)}
	return func(ports.PersonalView, *Client) (Value, error) { return v, nil }
}

// Part is one member of a snapshot on its way out.
type Part struct {
	Name string
	Value
}

// Truncation says what a frame had no room for.
type Truncation struct {
	TooLong bool // what does not grow is too long by itself
	Lists   []Shortened
}

// Shortened is a list that was shortened to fit.
type Shortened struct {
	Member  string
	Missing int // 0 where List.Counted is not set
}

// Frame composes personal.state as one JSON text. For the owner's page it is cut to
// nova.MaxDesktopText (nova-personal §3.1); where even that is too little it is
// longer, and nova.AppendDesktop says so. For a phone it has at most
// workbench.MaxMobileFrame bytes (§9.3, decision K13), and is nil where that is too
// little for what does not grow.
func Frame(desktop bool, revision uint64, parts []Part) (frame []byte, cut Truncation, err error) {
	head := append([]byte(`{"type":"`), nova.PersonalState{}.Type()...)
	head = strconv.AppendUint(append(head, `","revision":`...), revision, 10)
	if desktop {
		return compose(head, parts, nova.MaxDesktopText)
	}
	least := 0
	for _, p := range parts {
		least += p.AtLeast
	}
	if least > workbench.MaxMobileFrame {
		return nil, Truncation{TooLong: true}, nil
	}
	frame, cut, err = compose(head, parts, workbench.MaxMobileFrame)
	if cut.TooLong {
		frame = nil
	}
	return frame, cut, err
}

// Data composes the value of one member alone, as the data of a result, cut as in a
// phone's snapshot that holds nothing else.
func Data(p Part) (json.RawMessage, error) {
	const around = `{"":,"feed":[],"tasks":[]}` // and the name: what stood around it when its bound was set
	frame, _, err := compose(nil, []Part{{Value: p.Value}}, workbench.MaxMobileFrame-len(around)-len(p.Name))
	return frame, err
}

// compose encodes the parts without the rows of their lists, and then puts in the
// rows for which limit leaves room. Of each list it encodes at most one row that it
// does not show. What is too long without them comes as it is, with cut.TooLong.
func compose(head []byte, parts []Part, limit int) (frame []byte, cut Truncation, err error) {
	fixed := newEncoder(math.MaxInt)
	fixed.buf.Write(head)
	ends := make([]int, len(parts)) // in fixed, without the closing of their lists
	for i, p := range parts {
		if p.Name != "" {
			fixed.buf.WriteString(`,"`)
			fixed.buf.WriteString(p.Name)
			fixed.buf.WriteString(`":`)
		}
		if raw, ok := p.Fixed.(json.RawMessage); ok {
			fixed.buf.Write(raw)
		} else if p.Fixed == nil {
			fixed.buf.WriteString("[]")
		} else if !fixed.encode(p.Fixed) {
			return nil, Truncation{}, fixed.err
		}
		ends[i] = fixed.buf.Len()
		if p.List != nil {
			ends[i] -= len("]") + len(p.List.Closing)
		}
	}
	if head != nil {
		fixed.buf.WriteByte('}')
	}
	text := fixed.buf.Bytes()
	if len(text) > limit {
		return text, Truncation{TooLong: true}, nil
	}
	rows, room, cut, err := fill(parts, limit-len(text))
	if err != nil {
		return nil, Truncation{}, err
	}
	frame = make([]byte, 0, limit-room)
	from := 0
	for i, p := range parts {
		frame = append(frame, text[from:ends[i]]...)
		if p.List != nil {
			frame = rows[i].append(frame, p.List.OldestFirst)
		}
		from = ends[i]
	}
	return append(frame, text[from:]...), cut, nil
}

// fill encodes the rows of all lists that there is room for, and gives the room
// that is left.
func fill(parts []Part, room int) (rows []*encoder, left int, cut Truncation, err error) {
	rows = make([]*encoder, len(parts))
	countedTruncated := false
	for i, p := range slices.Backward(parts) {
		if p.List == nil {
			continue
		}
		r := newEncoder(room)
		rows[i] = r
		if !p.List.Counted || !countedTruncated {
			if err := p.List.Rows(r.addRow); err != nil {
				return nil, 0, Truncation{}, fmt.Errorf("read the rows of %s: %w", p.Name, err)
			}
			if r.err != nil {
				return nil, 0, Truncation{}, r.err
			}
		}
		room = r.room
		missing := 0
		if p.List.Counted {
			missing = p.List.Len - len(r.ends)
			countedTruncated = countedTruncated || missing > 0
		}
		if r.full || missing > 0 {
			cut.Lists = append(cut.Lists, Shortened{p.Name, missing})
		}
	}
	return rows, room, cut, nil
}

// encoder encodes JSON values one after the other, rows of a list as long as there
// is room.
type encoder struct {
	room int // bytes that are left for rows
	full bool
	buf  bytes.Buffer
	json *json.Encoder
	ends []int // of the rows in buf
	err  error
}

func newEncoder(room int) *encoder {
	e := &encoder{room: room}
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	return e
}

func (e *encoder) encode(v any) bool {
	if err := e.json.Encode(v); err != nil {
		e.err = fmt.Errorf("encode the snapshot: %w", err)
		return false
	}
	e.buf.Truncate(e.buf.Len() - 1) // the line feed
	return true
}

// addRow reports whether a row found room; without it, or after an error, no
// further one may be added.
func (e *encoder) addRow(row any) bool {
	start := e.buf.Len()
	if !e.encode(row) {
		return false
	}
	size := e.buf.Len() - start
	if start > 0 {
		size++ // the comma
	}
	if size > e.room {
		e.buf.Truncate(start)
		e.full = true
		return false
	}
	e.room -= size
	e.ends = append(e.ends, e.buf.Len())
	return true
}

// append appends the rows to dst, separated by commas.
func (e *encoder) append(dst []byte, reversed bool) []byte {
	for n := range e.ends {
		i := n
		if reversed {
			i = len(e.ends) - 1 - n
		}
		if n > 0 {
			dst = append(dst, ',')
		}
		start := 0
		if i > 0 {
			start = e.ends[i-1]
		}
		dst = append(dst, e.buf.Bytes()[start:e.ends[i]]...)
	}
	return dst
}
