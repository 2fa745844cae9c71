-- What the personal host keeps: conversations, their messages, and small
-- records. Times are Unix milliseconds; an empty text stands for none.
CREATE TABLE conversations (
  number       INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL UNIQUE,
  kind         TEXT    NOT NULL CHECK (kind IN ('chat', 'topic', 'proactive')),
  title        TEXT    NOT NULL,
  subject_key  TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  generation   INTEGER NOT NULL,
  unread       INTEGER NOT NULL,
  read_through INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX conversations_subject ON conversations (subject_key) WHERE subject_key <> '';
CREATE INDEX conversations_updated ON conversations (updated_at);
CREATE INDEX conversations_kind ON conversations (kind, updated_at);

-- AUTOINCREMENT: a seq that a client has acknowledged must never come to mean
-- another message.
CREATE TABLE messages (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
  id           TEXT    NOT NULL,
  role         TEXT    NOT NULL CHECK (role IN ('user', 'assistant')),
  created_at   INTEGER NOT NULL,
  turn_id      TEXT    NOT NULL,
  reply_to     TEXT    NOT NULL,
  request_id   TEXT    NOT NULL,
  status       TEXT    NOT NULL,
  delivery     TEXT    NOT NULL,
  todo_id      TEXT    NOT NULL,
  todo_version INTEGER NOT NULL,
  text         TEXT    NOT NULL,
  UNIQUE (conversation, id)
) STRICT;

-- With the role in it, unread messages are counted without reading them.
CREATE INDEX messages_conversation ON messages (conversation, seq, role);
CREATE UNIQUE INDEX messages_request ON messages (conversation, request_id) WHERE request_id <> '';
CREATE INDEX messages_pending ON messages (seq) WHERE status = 'pending';

-- The words of each message, cut and folded by the program, as for pages. The
-- tokenizer has nothing left to do but to split at blanks. Without positions
-- (detail) the table holds which words a message has, not in which order; and a
-- segment of which a hundredth is deleted is written anew soon (deletemerge),
-- so that the words of a deleted message do not stay for long.
CREATE VIRTUAL TABLE message_words USING fts5 (
  words,
  content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
INSERT INTO message_words (message_words, rank) VALUES ('deletemerge', 1);

-- Listed in the order of number. bodies mean something to the program only.
CREATE TABLE records (
  number INTEGER PRIMARY KEY,
  area   TEXT NOT NULL,
  id     TEXT NOT NULL,
  body   BLOB NOT NULL,
  UNIQUE (area, id)
) STRICT;

CREATE INDEX records_area ON records (area, number);

-- Running totals, so that sizes and bounds are known without reading the tables.
CREATE TABLE personal_totals (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  conversations INTEGER NOT NULL,
  topics        INTEGER NOT NULL,
  messages      INTEGER NOT NULL,
  message_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO personal_totals VALUES (1, 0, 0, 0, 0);

CREATE TABLE record_totals (
  area    TEXT PRIMARY KEY,
  records INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER conversations_inserted AFTER INSERT ON conversations BEGIN
  UPDATE personal_totals SET conversations = conversations + 1, topics = topics + (new.kind = 'topic');
END;

CREATE TRIGGER conversations_updated_kind AFTER UPDATE OF kind ON conversations WHEN new.kind <> old.kind BEGIN
  UPDATE personal_totals SET topics = topics + (new.kind = 'topic') - (old.kind = 'topic');
END;

CREATE TRIGGER conversations_deleted AFTER DELETE ON conversations BEGIN
  UPDATE personal_totals SET conversations = conversations - 1, topics = topics - (old.kind = 'topic');
END;

CREATE TRIGGER messages_inserted AFTER INSERT ON messages BEGIN
  UPDATE personal_totals SET messages = messages + 1, message_bytes = message_bytes + octet_length(new.text);
END;

CREATE TRIGGER messages_updated AFTER UPDATE OF text ON messages BEGIN
  UPDATE personal_totals SET message_bytes = message_bytes + octet_length(new.text) - octet_length(old.text);
END;

CREATE TRIGGER messages_deleted AFTER DELETE ON messages BEGIN
  UPDATE personal_totals SET messages = messages - 1, message_bytes = message_bytes - octet_length(old.text);
  DELETE FROM message_words WHERE rowid = old.seq;
END;

CREATE TRIGGER records_inserted AFTER INSERT ON records BEGIN
  INSERT INTO record_totals VALUES (new.area, 1) ON CONFLICT (area) DO UPDATE SET records = records + 1;
END;

CREATE TRIGGER records_deleted AFTER DELETE ON records BEGIN
  UPDATE record_totals SET records = records - 1 WHERE area = old.area;
END;
