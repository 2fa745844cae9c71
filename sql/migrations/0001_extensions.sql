-- Who has knocked at the NERVE socket, and what the owner decided.
-- Times are Unix milliseconds. AUTOINCREMENT: an ID that the owner has read in
-- a list must never come to mean another row.
CREATE TABLE extensions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  origin     TEXT    NOT NULL,
  key_hash   BLOB    NOT NULL CHECK (length(key_hash) = 32),
  state      TEXT    NOT NULL CHECK (state IN ('waiting', 'allowed', 'by_token', 'blocked')),
  first_seen INTEGER NOT NULL,
  last_seen  INTEGER NOT NULL,
  UNIQUE (origin, key_hash)
) STRICT;
