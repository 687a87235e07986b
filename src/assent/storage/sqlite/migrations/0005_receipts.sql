-- Approvals that bind: what a yes is good for stands with its ask, and the receipt that it made has a row.

-- NULL where no receipt comes of the answer.
ALTER TABLE asks ADD COLUMN terms BLOB;

-- `is_redeemed` is what the one write that redeems a receipt asks for.
CREATE TABLE receipts (
  receipt_number INTEGER PRIMARY KEY,
  project_number INTEGER NOT NULL,
  receipt_id     TEXT    NOT NULL,
  key            TEXT,
  is_redeemed    INTEGER NOT NULL,
  record         BLOB    NOT NULL,
  UNIQUE (project_number, receipt_id)
) STRICT;

CREATE UNIQUE INDEX receipts_key ON receipts (project_number, key) WHERE key IS NOT NULL;

-- Every entry of an index ends in the row's number, so this gives a project's receipts in order.
CREATE INDEX receipts_project ON receipts (project_number);
