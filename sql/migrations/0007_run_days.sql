-- Days on which the host ran. Age is counted in them and not by the clock, which
-- can leap. Times are Unix milliseconds; counted_at is 0 before the first day,
-- resume_day 0 while nothing is put off.
CREATE TABLE run_days (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  day        INTEGER NOT NULL,
  counted_at INTEGER NOT NULL,
  resume_day INTEGER NOT NULL,
  skip       INTEGER NOT NULL
) STRICT;
INSERT INTO run_days VALUES (1, 0, 0, 0, 0);

-- The run-day of last_seen and of updated_at. What is there already begins anew.
ALTER TABLE pages ADD COLUMN last_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN updated_day INTEGER NOT NULL DEFAULT 0;

CREATE INDEX pages_aging ON pages (last_day, last_seen, id);
CREATE INDEX conversations_aging ON conversations (kind, updated_day, updated_at);
