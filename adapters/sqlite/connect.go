package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	driver "modernc.org/sqlite"

	"plexus/adapters/sqlite/sqlitex"
)

// walCap is the size to which the write-ahead log is cut back once no reader
// holds it any more, in bytes.
const walCap = 8 << 20

// pragma is one setting of a connection and the value it must read back as.
type pragma struct{ name, set, want string }

// writerPragmas are the settings of the one connection that writes. The driver
// ignores a pragma that it does not know, and a pragma holds for one connection
// only: so each is part of the address and read back every time. busy_timeout
// comes first because the others may have to wait for a lock.
func writerPragmas() []pragma {
	return []pragma{
		{"busy_timeout", "5000", "5000"},
		{"journal_mode", "WAL", "wal"},
		{"synchronous", "FULL", "2"}, // what is acknowledged survives a power cut
		{"foreign_keys", "1", "1"},
		{"secure_delete", "1", "1"}, // what is deleted cannot be read in the file
		{"journal_size_limit", strconv.Itoa(walCap), strconv.Itoa(walCap)},
		{"wal_autocheckpoint", "1000", "1000"}, // database pages, about 4 MB
	}
}

// readerPragmas are the settings of a connection that only reads.
func readerPragmas() []pragma {
	return []pragma{
		{"busy_timeout", "5000", "5000"},
		{"foreign_keys", "1", "1"},
		{"query_only", "1", "1"},
	}
}

// connect opens a pool whose every connection has been checked. params are more
// parameters of the address, such as mode=ro.
func connect(path string, pragmas []pragma, params ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find database path: %w", err)
	}
	query := make([]string, 0, len(pragmas)+len(params))
	for _, p := range pragmas {
		query = append(query, fmt.Sprintf("_pragma=%s(%s)", p.name, p.set))
	}
	query = append(query, params...)
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), OmitHost: true}
	base, err := driver.NewConnector(address.String() + "?" + strings.Join(query, "&"))
	if err != nil {
		return nil, fmt.Errorf("build database address: %w", err)
	}
	return sql.OpenDB(checkedConnector{base, pragmas}), nil
}

// checkedConnector refuses a connection that did not take its settings.
type checkedConnector struct {
	sqldriver.Connector
	pragmas []pragma
}

func (c checkedConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range c.pragmas {
		got, err := readPragma(ctx, conn, p.name)
		if err == nil && got != p.want {
			err = fmt.Errorf("%w: %s is %q, not %q", ErrSettings, p.name, got, p.want)
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

func readPragma(ctx context.Context, conn sqldriver.Conn, name string) (value string, err error) {
	rows, err := conn.(sqldriver.QueryerContext).QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return "", sqlitex.Wrap("read back "+name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]sqldriver.Value, 1)
	if err := rows.Next(row); errors.Is(err, io.EOF) {
		return "", nil // a pragma that does not exist answers with no row
	} else if err != nil {
		return "", sqlitex.Wrap("read back "+name, err)
	}
	return fmt.Sprint(row[0]), nil
}
