-- Projects, their log, their asks, and the journals of durable flows.
-- `min_reader` is the lowest program schema number that may open the file.

CREATE TABLE projects (
  project_number INTEGER PRIMARY KEY,
  project        TEXT    NOT NULL UNIQUE,
  sequence       INTEGER NOT NULL,
  hash           BLOB    NOT NULL,
  at             INTEGER NOT NULL
) STRICT;

-- One tree: event_number is project_number * 2^40 + sequence, so a project's log is one dense run of it.
CREATE TABLE events (
  event_number INTEGER PRIMARY KEY,
  at           INTEGER NOT NULL,
  type         TEXT    NOT NULL,
  subject      TEXT    NOT NULL,
  body         BLOB,
  digest       BLOB,
  hash         BLOB    NOT NULL
) STRICT;

-- `ending` is the answer (state answered) or the outcome (any other ended state).
-- `claim` is volatile: it is not in the log.
CREATE TABLE asks (
  ask_number     INTEGER PRIMARY KEY,
  ask_id         TEXT    NOT NULL UNIQUE,
  project_number INTEGER NOT NULL,
  kind           TEXT    NOT NULL,
  state          TEXT    NOT NULL,
  key            TEXT,
  digest         TEXT    NOT NULL,
  prompt         BLOB    NOT NULL,
  asker          TEXT    NOT NULL,
  run_id         TEXT,
  opened_at      INTEGER NOT NULL,
  opened         INTEGER NOT NULL,
  deadline       INTEGER,
  consequence    TEXT    NOT NULL,
  escalate_to    TEXT,
  flags          INTEGER NOT NULL,
  sequence       INTEGER NOT NULL,
  ending         BLOB,
  claim          BLOB
) STRICT;

CREATE UNIQUE INDEX asks_key ON asks (project_number, key) WHERE key IS NOT NULL AND state <> 'superseded';
CREATE INDEX asks_open ON asks (project_number, opened) WHERE state = 'open';
CREATE INDEX asks_due ON asks (project_number, deadline) WHERE state = 'open' AND deadline IS NOT NULL AND flags & 1 = 0;

CREATE TABLE steps (
  project_number INTEGER NOT NULL,
  flow_id        TEXT    NOT NULL,
  step           INTEGER NOT NULL,
  digest         TEXT    NOT NULL,
  state          TEXT    NOT NULL,
  content        BLOB    NOT NULL,
  PRIMARY KEY (project_number, flow_id, step)
) STRICT, WITHOUT ROWID;
