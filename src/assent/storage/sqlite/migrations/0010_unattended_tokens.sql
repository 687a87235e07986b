-- A token that was made where no person was says so itself: whatever is answered with it is marked.

UPDATE tokens
SET record = CAST(json_set(CAST(record AS TEXT), '$.is_unattended', json('true')) AS BLOB)
WHERE token_id IN (
  SELECT subject FROM events
  WHERE type = 'token.created' AND body IS NOT NULL AND json_extract(CAST(body AS TEXT), '$.is_unattended')
);
