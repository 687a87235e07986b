-- Which file this is: each user notes one of its marks where they made or adopted it. A file that took its place has not
-- that mark, and a copy has it at another path. A backup says that it is one.

CREATE TABLE store_marks (
  mark      BLOB    NOT NULL PRIMARY KEY,
  is_backup INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO store_marks (mark) SELECT substr(secret, 1, 16) FROM store_secret;
