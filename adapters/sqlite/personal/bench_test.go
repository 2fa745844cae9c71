package personal_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"plexus/domain/conversations"
	"plexus/ports"
)

// turn is what the admission of a message writes: a message, its conversation
// and a receipt.
func turn(tx ports.PersonalTx, n int64) error {
	c, err := tx.Conversation("one")
	if err != nil {
		return err
	}
	m := conversations.Message{ID: fmt.Sprint(n), ConversationID: "one", Role: conversations.User, Text: "When was the tower opened to the public?", RequestID: fmt.Sprint("r", n)}
	if c.ReadThrough, err = tx.AddMessage(m); err != nil {
		return err
	}
	if err := tx.PutConversation(c); err != nil {
		return err
	}
	return tx.PutRecord("receipts", m.RequestID, []byte("applied"), 1024)
}

func BenchmarkUpdate(b *testing.B) {
	b.Run("single", func(b *testing.B) {
		d := open(b)
		d.put(b, "one")
		b.ReportAllocs()
		n := int64(0)
		for b.Loop() {
			n++
			d.update(b, func(tx ports.PersonalTx) error { return turn(tx, n) })
		}
	})
	b.Run("64 at once", func(b *testing.B) {
		d := open(b)
		d.put(b, "one")
		var commits int
		d.OnCommit(func(int) { commits++ })
		b.ReportAllocs()
		b.SetParallelism(32) // times two processors
		var n atomic.Int64
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				d.update(b, func(tx ports.PersonalTx) error { return turn(tx, n.Add(1)) })
			}
		})
		b.ReportMetric(float64(b.N)/float64(max(commits, 1)), "changes/commit")
	})
}

func BenchmarkView(b *testing.B) {
	d := open(b)
	d.put(b, "one")
	d.fill(b, "one", 10_000)
	b.ReportAllocs()
	for b.Loop() {
		err := d.View(b.Context(), func(v ports.PersonalView) error {
			_, err := walk(v, "one", 0)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
