-- The last of what each run printed, for boards on other machines.
-- Volatile: it is not in the log. `written` counts all bytes that there were; `command_id` is of the last that came.

CREATE TABLE tails (
  project_number INTEGER NOT NULL,
  run_id         TEXT    NOT NULL,
  text           BLOB    NOT NULL,
  written        INTEGER NOT NULL,
  at             INTEGER NOT NULL,
  command_id     TEXT    NOT NULL,
  PRIMARY KEY (project_number, run_id)
) STRICT;
