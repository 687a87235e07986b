-- Credentials for a server. A secret is nowhere in here: `digest` is its SHA-256, by which a server finds the token.

CREATE TABLE tokens (
  token_number   INTEGER PRIMARY KEY,
  project_number INTEGER NOT NULL,
  token_id       TEXT    NOT NULL,
  digest         TEXT    NOT NULL UNIQUE,
  record         BLOB    NOT NULL,
  UNIQUE (project_number, token_id)
) STRICT;

-- Every entry of an index ends in the row's number, so this gives a project's tokens in order.
CREATE INDEX tokens_project ON tokens (project_number);
