-- The paired devices. Times are Unix milliseconds; NULL is never. Rows are
-- listed in the order of seq. Of a token only its SHA-256 is here.
CREATE TABLE devices (
  seq                INTEGER PRIMARY KEY,
  id                 BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
  name               TEXT    NOT NULL,
  created_at         INTEGER NOT NULL,
  first_connected_at INTEGER,
  last_seen_at       INTEGER,
  token_hash         BLOB    NOT NULL UNIQUE CHECK (length(token_hash) = 32)
) STRICT;

-- Facts about the database itself. master_hash binds the devices to the SHA-256
-- of the master token that they were paired under.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;
