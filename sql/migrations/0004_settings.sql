-- What the owner set on the page. A flag, the environment and the configuration
-- file come before it.
CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
