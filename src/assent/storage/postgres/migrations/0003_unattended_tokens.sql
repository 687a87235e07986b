-- A token that was made where no person was says so itself, as SQLite has it at its schema 10.

UPDATE tokens
SET record = convert_to(
  jsonb_set(convert_from(record, 'UTF8')::jsonb, '{is_unattended}', 'true')::text, 'UTF8')
WHERE token_id IN (
  SELECT subject FROM events
  WHERE type = 'token.created' AND body IS NOT NULL
    AND (convert_from(body, 'UTF8')::jsonb ->> 'is_unattended') = 'true'
);
