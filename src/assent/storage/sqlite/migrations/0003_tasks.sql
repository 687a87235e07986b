-- Tasks, the notifications that may block them, and each project's policy.

CREATE TABLE tasks (
  task_number    INTEGER PRIMARY KEY,
  project_number INTEGER NOT NULL,
  task_id        TEXT    NOT NULL,
  status         TEXT    NOT NULL,
  record         BLOB    NOT NULL,
  UNIQUE (project_number, task_id)
) STRICT;

-- Every entry of an index ends in the row's number, so these give a project's tasks in order.
CREATE INDEX tasks_project ON tasks (project_number);
CREATE INDEX tasks_live ON tasks (project_number) WHERE status <> 'closed';

-- `record` is the public JSON. An id has eight hexadecimal digits: enough for a project, too few for a whole store.
CREATE TABLE notifications (
  notification_number INTEGER PRIMARY KEY,
  project_number      INTEGER NOT NULL,
  notification_id     TEXT    NOT NULL,
  is_open             INTEGER NOT NULL,
  source              TEXT    NOT NULL,
  source_id           TEXT    NOT NULL,
  repeat_key          TEXT    NOT NULL,
  ask_id              TEXT,
  record              BLOB    NOT NULL,
  UNIQUE (project_number, notification_id)
) STRICT;

CREATE INDEX notifications_open ON notifications (project_number) WHERE is_open = 1;
CREATE INDEX notifications_repeat ON notifications (project_number, repeat_key) WHERE is_open = 1;
CREATE INDEX notifications_ask ON notifications (project_number, ask_id) WHERE ask_id IS NOT NULL;
CREATE INDEX notifications_source ON notifications (project_number, source, source_id);

CREATE TABLE policies (
  project_number INTEGER PRIMARY KEY,
  record         BLOB    NOT NULL
) STRICT;

-- The table that the protocol text names, for whoever reads the file with plain SQL: notifications of every kind, open
-- and resolved. The cast says that it is text: SQLite has a binary form of JSON, too, and would have to guess.
CREATE VIEW open_questions (
  id, project_id, source, source_id, questions, status, created_at, resolved_at, kind, error_code,
  scope_change_metadata, responses
) AS
SELECT
  n.notification_id,
  p.project,
  n.source,
  n.source_id,
  json_extract(CAST(n.record AS TEXT), '$.questions'),
  json_extract(CAST(n.record AS TEXT), '$.status'),
  json_extract(CAST(n.record AS TEXT), '$.createdAt'),
  json_extract(CAST(n.record AS TEXT), '$.resolvedAt'),
  json_extract(CAST(n.record AS TEXT), '$.kind'),
  json_extract(CAST(n.record AS TEXT), '$.errorCode'),
  json_extract(CAST(n.record AS TEXT), '$.scopeChangeMetadata'),
  json_extract(CAST(n.record AS TEXT), '$.responses')
FROM notifications n JOIN projects p USING (project_number);
