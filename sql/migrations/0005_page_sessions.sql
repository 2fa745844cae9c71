-- The browsers that the owner signed in with. Times are Unix milliseconds. Of
-- cookie and path prefix only the SHA-256 is here. AUTOINCREMENT: an ID that
-- the owner has read in a list must never come to mean another row.
CREATE TABLE page_sessions (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  cookie_hash BLOB    NOT NULL UNIQUE CHECK (length(cookie_hash) = 32),
  prefix_hash BLOB    NOT NULL CHECK (length(prefix_hash) = 32),
  created_at  INTEGER NOT NULL,
  last_seen   INTEGER NOT NULL,
  user_agent  TEXT    NOT NULL
) STRICT;
