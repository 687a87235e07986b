-- Addresses that are told of asks. `record` is what the log gives. `secret` holds the address, and is in no log. Volatile
-- are the columns behind it: how far the target was told (`cursor`), whose it is just now, and what went wrong last.

CREATE TABLE targets (
  target_number  INTEGER PRIMARY KEY,
  project_number INTEGER NOT NULL,
  name           TEXT    NOT NULL,
  is_live        INTEGER NOT NULL,
  record         BLOB    NOT NULL,
  secret         BLOB    NOT NULL,
  cursor         INTEGER NOT NULL,
  fence          INTEGER NOT NULL DEFAULT 0,
  lease_until    INTEGER NOT NULL DEFAULT 0,
  attempts       INTEGER NOT NULL DEFAULT 0,
  next_try_at    INTEGER NOT NULL DEFAULT 0,
  last_error     TEXT    NOT NULL DEFAULT '',
  UNIQUE (project_number, name)
) STRICT;

CREATE INDEX targets_live ON targets (project_number) WHERE is_live = 1;

-- How the message that told of an ask is known at the other side, so that it can be changed. Volatile.
CREATE TABLE target_messages (
  project_number INTEGER NOT NULL,
  name           TEXT    NOT NULL,
  ask_id         TEXT    NOT NULL,
  reference      TEXT    NOT NULL,
  PRIMARY KEY (project_number, name, ask_id)
) STRICT, WITHOUT ROWID;
