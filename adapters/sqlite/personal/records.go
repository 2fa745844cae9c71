package personal

import (
	"plexus/adapters/sqlite/sqlitex"
	"plexus/domain/pages"
	"plexus/ports"
)

// Record implements ports.RecordReader.
func (t *transaction) Record(kind, id string) (body []byte, err error) {
	err = t.row(recordByID, "read record", ports.ErrRecordUnknown, scanInto(&body), kind, id)
	return body, err
}

// Records implements ports.RecordReader.
func (t *transaction) Records(kind string, limit int) (list []ports.Record, err error) {
	scan := func(row sqlitex.Scanner, r *ports.Record) error { return row.Scan(&r.ID, &r.Body) }
	err = t.rows(recordsInOrder, "list records", collect(&list, scan), kind, max(limit, 0))
	return list, err
}

// PutRecord implements ports.RecordWriter.
func (t *transaction) PutRecord(kind, id string, body []byte, keep int) error {
	if body == nil {
		body = []byte{} // nil would be NULL
	}
	_, err := t.exec(putRecord, "store record", kind, id, body)
	if err != nil || keep <= 0 {
		return err
	}
	_, err = t.exec(evictRecords, "drop oldest records", kind, keep)
	return err
}

// DropRecord implements ports.RecordWriter.
func (t *transaction) DropRecord(kind, id string) error {
	_, err := t.exec(dropRecord, "drop record", kind, id)
	return err
}

// IndexPage implements ports.PageWriter.
func (t *transaction) IndexPage(page pages.Page) error {
	if t.failed != nil {
		return t.failed
	}
	return t.fail("index page", t.indexPage(t.ctx, t.tx, page))
}
