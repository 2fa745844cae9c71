package pcm

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A WAV file begins
//
//	offset 0  4 bytes  "RIFF"
//	       4  4 bytes  length of the rest of the file
//	       8  4 bytes  "WAVE"
//
// and goes on in chunks: four letters, the length of the content, the content,
// and one byte more if that length is odd. Numbers are little endian. Of the
// chunks "fmt " describes the samples and "data" holds them.
const (
	wavHeader   = 12
	chunkHeader = 8
	fmtLength   = 16 // of the part that every writer writes

	formatPCM        = 1
	formatExtensible = 0xFFFE // the format proper is the beginning of the identifier at subFormat
	subFormat        = 24

	// minPlaceholder is the least of the lengths that programs write which cannot go
	// back and correct them: 0xFFFFFFFF (ffmpeg), 0x80000000 (arecord), 0x7FFFF000
	// (sox, espeak), each less what stands before the samples. Others write 0.
	minPlaceholder = 0x7FFF0000
)

// What is wrong with a file that is no WAV file of speech at all.
var (
	ErrNoWAV     = errors.New("it is not a WAV file")
	ErrCutShort  = errors.New("the WAV file is cut short")
	ErrNoSamples = errors.New("the WAV file holds no samples")
)

// FormatError says in which form the samples of a WAV file are, other than ours.
type FormatError struct {
	Format   int // 1: PCM
	Channels int
	Rate     int // a second
	Bits     int // of a sample
}

// Error names what was found and what is read.
func (e *FormatError) Error() string {
	kind := "PCM"
	if e.Format != formatPCM {
		kind = fmt.Sprintf("compressed or floating point (format %d)", e.Format)
	}
	return fmt.Sprintf("the WAV file is %s, %d Hz, %d channels, %d bits; what is read is PCM, %d Hz, 1 channel, 16 bits",
		kind, e.Rate, e.Channels, e.Bits, Rate)
}

// AppendWAV appends a WAV file with the samples to dst. There have to be fewer
// than 4 GiB of them; Check says whether they are speech.
func AppendWAV(dst, samples []byte) []byte {
	size := uint32(len(samples))
	dst = append(dst, "RIFF"...)
	dst = binary.LittleEndian.AppendUint32(dst, wavHeader-8+chunkHeader+fmtLength+chunkHeader+size)
	dst = append(dst, "WAVEfmt "...)
	dst = binary.LittleEndian.AppendUint32(dst, fmtLength)
	dst = binary.LittleEndian.AppendUint16(dst, formatPCM)
	dst = binary.LittleEndian.AppendUint16(dst, 1) // channel
	dst = binary.LittleEndian.AppendUint32(dst, Rate)
	dst = binary.LittleEndian.AppendUint32(dst, BytesPerSecond)
	dst = binary.LittleEndian.AppendUint16(dst, 2)  // bytes of a sample
	dst = binary.LittleEndian.AppendUint16(dst, 16) // bits of a sample
	dst = append(dst, "data"...)
	dst = binary.LittleEndian.AppendUint32(dst, size)
	return append(dst, samples...)
}

// WAVSize is the size of the file that AppendWAV makes of so many bytes.
func WAVSize(bytes int) int { return wavHeader + chunkHeader + fmtLength + chunkHeader + bytes }

// ParseWAV gives the samples of a WAV file, as a part of file. Their form has to
// be ours, else the error is a *FormatError; how many there are is for Check. Where the
// file has a placeholder for their length, as from a pipe, they go on to its end.
func ParseWAV(file []byte) ([]byte, error) {
	if len(file) < wavHeader || string(file[:4]) != "RIFF" || string(file[8:wavHeader]) != "WAVE" {
		return nil, ErrNoWAV
	}
	described := false
	for rest := file[wavHeader:]; len(rest) >= chunkHeader; {
		name, size := string(rest[:4]), uint64(binary.LittleEndian.Uint32(rest[4:chunkHeader]))
		rest = rest[chunkHeader:]
		if name == "data" && isPlaceholder(size, file) {
			size = uint64(len(rest) &^ 1) // a pipe may break off within a sample
		}
		if size > uint64(len(rest)) {
			return nil, ErrCutShort
		}
		content := rest[:size]
		switch name {
		case "fmt ":
			if err := checkFormat(content); err != nil {
				return nil, err
			}
			described = true
		case "data":
			switch {
			case !described || len(content) == 0:
				return nil, ErrNoSamples
			case len(content)%2 != 0:
				return nil, ErrHalfSample
			}
			return content, nil
		}
		rest = rest[min(size+size%2, uint64(len(rest))):]
	}
	return nil, ErrNoSamples
}

// isPlaceholder: of a length of 0 the length of the whole file has to be one too, since
// there are files without samples.
func isPlaceholder(size uint64, file []byte) bool {
	whole := uint64(binary.LittleEndian.Uint32(file[4:]))
	return size >= minPlaceholder && size > uint64(len(file)) || size == 0 && whole != uint64(len(file)-8)
}

func checkFormat(content []byte) error {
	if len(content) < fmtLength {
		return ErrCutShort
	}
	found := FormatError{
		Format:   int(binary.LittleEndian.Uint16(content)),
		Channels: int(binary.LittleEndian.Uint16(content[2:])),
		Rate:     int(binary.LittleEndian.Uint32(content[4:])),
		Bits:     int(binary.LittleEndian.Uint16(content[14:])),
	}
	if found.Format == formatExtensible && len(content) >= subFormat+2 {
		found.Format = int(binary.LittleEndian.Uint16(content[subFormat:]))
	}
	if found != (FormatError{Format: formatPCM, Channels: 1, Rate: Rate, Bits: 16}) {
		return &found
	}
	return nil
}
