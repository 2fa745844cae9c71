package nova

// AudioHeader names the place of an audio frame in the host's speech.
type AudioHeader struct {
	Generation
	Sequence uint64 // 0…MaxSafeInteger, +1 per frame of a generation
}
