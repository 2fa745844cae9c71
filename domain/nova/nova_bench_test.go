package nova_test

import (
	"testing"

	"plexus/domain/nova"
)

const (
	sampleHello = `{"type":"hello","token":"0123456789abcdef0123456789abcdef","protocol_version":1,` +
		`"media":{"transports":["host_pcm_v1"]},"language":"zh-CN","capabilities":["personal"]}`
	sampleEnvelope = `{"type":"client.command","request_id":"6f1b2c3d-5717-4562-b3fc-2c963f66afa6",` +
		`"connection_id":"3fa85f64-5717-4562-b3fc-2c963f66afa6","payload":`
	sampleText = sampleEnvelope + `{"type":"input.text","text":"What is on my list for today, and what did we say about the \"green\" door?",` +
		`"request_id":"0a1b2c3d-5717-4562-b3fc-2c963f66afa6","input_instance_id":"11111111-5717-4562-b3fc-2c963f66afa6",` +
		`"conversation_id":"conversation-1"}}`
	samplePersonal = sampleEnvelope + `{"type":"personal.command","request_id":"7a1b2c3d-5717-4562-b3fc-2c963f66afa6",` +
		`"method":"life.mutate","params":{"op":"update","kind":"todo","id":"item-12","expected_version":3,` +
		`"title":"Buy flour","note":"two bags","due":"2026-12-01"}}}`
	samplePlayback = sampleEnvelope + `{"type":"playback.done","utterance_id":"3fa85f64-5717-4562-b3fc-2c963f66afa6",` +
		`"generation_epoch":7,"played_ms":1234,"t_render_ms":12345.5}}`
)

// samples are messages as phones send them, with how they are read: a hello, and
// commands with their control and its fingerprint.
var samples = map[string]struct {
	text string
	read func(text []byte) error
}{
	"hello":            {sampleHello, readHello},
	"input.text":       {sampleText, readCommand},
	"personal.command": {samplePersonal, readCommand},
	"playback.done":    {samplePlayback, readCommand},
}

func readHello(text []byte) error {
	_, err := nova.DecodeHello(text)
	return err
}

func readCommand(text []byte) error {
	c, err := nova.DecodeCommand(text)
	if err == nil {
		_, _, err = c.Control()
	}
	return err
}

func BenchmarkReadMessage(b *testing.B) {
	for name, sample := range samples {
		b.Run(name, func(b *testing.B) {
			text := []byte(sample.text)
			b.ReportAllocs()
			for b.Loop() {
				if err := sample.read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
