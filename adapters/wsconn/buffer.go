package wsconn

import "sync"

// maxPooled is the largest buffer that goes back to the pool; a rare big frame
// must not stay in memory for ever.
const maxPooled = 64 << 10

// Buffer is a pooled byte slice with one owner at a time. The owner puts it back
// exactly once, on every path.
type Buffer struct{ B []byte }

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, 512)} }}

// GetBuffer gives an empty buffer.
func GetBuffer() *Buffer {
	b := buffers.Get().(*Buffer)
	b.B = b.B[:0]
	return b
}

// Put gives the buffer back to the pool.
func (b *Buffer) Put() {
	if cap(b.B) <= maxPooled {
		buffers.Put(b)
	}
}
