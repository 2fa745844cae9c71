package playback

// Fence is what the client was told to drop. It only ever rises, so that a late
// clear for an older generation admits nothing again.
type Fence struct {
	Epoch   uint64 // the highest generation; its audio and terminal, and all older ones
	Caption uint64 // the highest sequence of an assistant caption; user captions are never held back
}

// Raised gives the fence that holds back what either does.
func (f Fence) Raised(to Fence) Fence {
	return Fence{Epoch: max(f.Epoch, to.Epoch), Caption: max(f.Caption, to.Caption)}
}

// CoversEpoch reports whether audio and the terminal of a generation are held
// back.
func (f Fence) CoversEpoch(epoch uint64) bool { return epoch <= f.Epoch }

// CoversCaption reports whether an assistant caption is held back.
func (f Fence) CoversCaption(sequence uint64) bool { return sequence <= f.Caption }
