// Package stored reads and writes what several areas of the personal host keep in
// the store: records as JSON, the selected conversation, what a conversation is
// about, and the revision. A record of one area alone is that area's business.
package stored

import (
	"encoding/json"
	"errors"
	"fmt"

	"plexus/ports"
)

// errDamaged stands for what is wrong with a record: the decoder's own errors
// quote it.
var errDamaged = errors.New("it is damaged")

// Load decodes a record; ok is false when it is not there.
func Load[T any](tx ports.PersonalView, kind, id string) (v T, ok bool, err error) {
	body, err := tx.Record(kind, id)
	if errors.Is(err, ports.ErrRecordUnknown) {
		return v, false, nil
	}
	if err == nil && json.Unmarshal(body, &v) != nil {
		err = errDamaged
	}
	if err != nil {
		return v, false, fmt.Errorf("read %s record: %w", kind, err)
	}
	return v, true, nil
}

// All decodes the records of a kind, the oldest first, at most limit.
func All[T any](tx ports.PersonalView, kind string, limit int) ([]T, error) {
	records, err := tx.Records(kind, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s records: %w", kind, err)
	}
	all := make([]T, len(records))
	for i, r := range records {
		if json.Unmarshal(r.Body, &all[i]) != nil {
			return nil, fmt.Errorf("read %s record: %w", kind, errDamaged)
		}
	}
	return all, nil
}

// Save encodes a record. keep bounds how many there are of its kind, the oldest
// go; 0 is no bound.
func Save(tx ports.PersonalTx, kind, id string, v any, keep int) error {
	body, err := json.Marshal(v)
	if err == nil {
		err = tx.PutRecord(kind, id, body, keep)
	}
	if err != nil {
		return fmt.Errorf("write %s record: %w", kind, err)
	}
	return nil
}
