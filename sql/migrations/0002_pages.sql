-- The pages that were asked about, as they were read. Times are Unix
-- milliseconds; bytes is the length of body.
CREATE TABLE pages (
  id        INTEGER PRIMARY KEY,
  origin    TEXT    NOT NULL,
  url       TEXT    NOT NULL,
  last_seen INTEGER NOT NULL,
  bytes     INTEGER NOT NULL,
  title     TEXT    NOT NULL,
  body      TEXT    NOT NULL,
  UNIQUE (origin, url)
) STRICT;

CREATE INDEX pages_last_seen ON pages (last_seen, id);

-- Running totals, so that the bounds are checked without reading the table.
CREATE TABLE page_totals (
  one   INTEGER PRIMARY KEY CHECK (one = 1),
  pages INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
INSERT INTO page_totals VALUES (1, 0, 0);

-- The words of each page, cut and folded by the program, since no built-in
-- tokenizer splits Chinese or Japanese. Contentless: the table could not give
-- those words back from pages, which an external content table must do for
-- every delete; with contentless_delete a row goes by its number alone. The
-- tokenizer has nothing left to do but to split at blanks; marks (M*) stay in
-- their word.
CREATE VIRTUAL TABLE page_words USING fts5 (
  title, body,
  content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);

CREATE TRIGGER pages_inserted AFTER INSERT ON pages BEGIN
  UPDATE page_totals SET pages = pages + 1, bytes = bytes + new.bytes;
END;

CREATE TRIGGER pages_updated AFTER UPDATE OF bytes ON pages BEGIN
  UPDATE page_totals SET bytes = bytes + new.bytes - old.bytes;
END;

CREATE TRIGGER pages_deleted AFTER DELETE ON pages BEGIN
  UPDATE page_totals SET pages = pages - 1, bytes = bytes - old.bytes;
  DELETE FROM page_words WHERE rowid = old.id;
END;
