-- Commands that leave no row to remember them by, and may be sent again: what is found here was done.
-- Volatile: it is not in the log. `digest` tells a command that is sent again from another under the same id.

CREATE TABLE done_commands (
  project_number INTEGER NOT NULL,
  command_id     TEXT    NOT NULL,
  digest         BLOB    NOT NULL,
  sequence       INTEGER NOT NULL,
  PRIMARY KEY (project_number, command_id)
) STRICT, WITHOUT ROWID;
