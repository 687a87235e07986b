-- Topics, runs, and the controls that steer them.

-- A topic is a part of the log: an index over the events that carry a message. Which topic an event is on follows from
-- its body, so the chain need not cover this column; the audit compares the two.
ALTER TABLE events ADD COLUMN topic TEXT;
CREATE INDEX events_topic ON events (topic, event_number) WHERE topic IS NOT NULL;

-- The asks that end with their run.
CREATE INDEX asks_run ON asks (project_number, run_id) WHERE state = 'open' AND run_id IS NOT NULL;

CREATE TABLE runs (
  run_number     INTEGER PRIMARY KEY,
  project_number INTEGER NOT NULL,
  run_id         TEXT    NOT NULL,
  is_active      INTEGER NOT NULL,
  record         BLOB    NOT NULL,
  UNIQUE (project_number, run_id)
) STRICT;

CREATE INDEX runs_active ON runs (project_number, run_number) WHERE is_active = 1;

-- One row for each request id that was ever taken: it is never executed twice.
CREATE TABLE controls (
  project_number INTEGER NOT NULL,
  request_id     TEXT    NOT NULL,
  is_settled     INTEGER NOT NULL,
  sequence       INTEGER NOT NULL,
  record         BLOB    NOT NULL,
  PRIMARY KEY (project_number, request_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX controls_open ON controls (project_number, sequence) WHERE is_settled = 0;
