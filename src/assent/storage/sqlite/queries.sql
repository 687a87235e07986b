-- head: A project's number and head, by its name.
SELECT project_number, sequence, hash, at FROM projects WHERE project = ?;

-- take_head: The same with its earliest deadline, and whether a control is left to be dealt with: where there is
-- none, nobody need ask for what is due. The moment comes from whoever asks: a file has no clock of its own.
SELECT p.project_number, p.sequence, p.hash, p.at, (
  SELECT min(a.deadline) FROM asks a INDEXED BY asks_due WHERE a.project_number = p.project_number
  AND a.state = 'open' AND a.deadline IS NOT NULL AND a.flags & 1 = 0), EXISTS (
  SELECT 1 FROM controls c INDEXED BY controls_open WHERE c.project_number = p.project_number AND c.is_settled = 0),
  NULL FROM projects p WHERE p.project = ?;

-- add_project: A project begins with its first event. A number that has events is taken, too: by a copy under way.
INSERT INTO projects (project_number, project, sequence, hash, at)
SELECT max(coalesce((SELECT max(project_number) FROM projects), 0),
  coalesce((SELECT max(event_number) FROM events) >> 40, 0)) + 1, ?, 0, ?, ? RETURNING project_number, at;

-- save_head: The head after this transaction's events. `at` is the latest moment that any of the log's events has.
UPDATE projects SET sequence = ?, hash = ?, at = ? WHERE project_number = ?;

-- drop_project: Nothing was accepted for it: it never began.
DELETE FROM projects WHERE project_number = ? AND sequence = 0;

-- heads: All projects of this store.
SELECT project, project_number, sequence, hash, at FROM projects ORDER BY project;

-- ask: One ask by its id.
SELECT {ask} FROM asks a JOIN projects p USING (project_number) WHERE a.ask_id = ?;

-- asks_in: The asks with these ids (a JSON list).
SELECT {ask} FROM asks a JOIN projects p USING (project_number)
WHERE a.ask_id IN (SELECT value FROM json_each(?));

-- asks_by_key: The asks of a project that hold these keys (a JSON list).
SELECT {ask} FROM asks a INDEXED BY asks_key JOIN projects p USING (project_number)
WHERE a.project_number = (SELECT project_number FROM projects WHERE project = ?)
AND a.key IS NOT NULL AND a.state <> 'superseded' AND a.key IN (SELECT value FROM json_each(?));

-- ask_by_key: The ask that holds a key.
SELECT {ask} FROM asks a INDEXED BY asks_key JOIN projects p USING (project_number)
WHERE a.project_number = (SELECT project_number FROM projects WHERE project = ?)
AND a.key IS NOT NULL AND a.state <> 'superseded' AND a.key = ?;

-- asks_ending_in: Asks by the end of their id, as people type it; reads the whole table.
SELECT {ask} FROM asks a JOIN projects p USING (project_number)
WHERE a.ask_id LIKE ?1 ESCAPE '\' AND (?2 IS NULL OR p.project = ?2) LIMIT 3;

-- open_asks: The newest open asks of a project.
SELECT {ask}, a.ask_number FROM asks a INDEXED BY asks_open JOIN projects p USING (project_number)
WHERE a.state = 'open' AND a.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY a.opened DESC LIMIT ?;

-- asks: The newest asks of a project, in one state or in any.
SELECT {ask}, a.ask_number FROM asks a JOIN projects p USING (project_number)
WHERE p.project = ?1 AND (?3 IS NULL OR a.state = ?3) ORDER BY a.ask_number DESC LIMIT ?2;

-- opened_before: Of the asks of some projects (a JSON list of numbers) before one, newest first, the place and the
-- size. What is too much for one page is never read.
SELECT a.ask_number, 0, length(a.prompt) + coalesce(length(a.ending), 0), a.ask_id FROM asks a NOT INDEXED
WHERE a.ask_number < ?1 AND a.project_number IN (SELECT value FROM json_each(?2))
AND (?3 IS NULL OR a.state = ?3) AND (?4 IS NULL OR a.kind = ?4) ORDER BY a.ask_number DESC LIMIT ?5;

-- open_before: The same of a project's open asks.
SELECT a.ask_number, 0, length(a.prompt), a.ask_id FROM asks a INDEXED BY asks_open
WHERE a.state = 'open' AND a.project_number = ?1 AND a.ask_number < ?2
AND (?3 IS NULL OR a.kind = ?3) ORDER BY a.opened DESC LIMIT ?4;

-- ended_before: The same of the asks of a project that ended before a number of the log; the last to end comes first.
SELECT coalesce(e.placed_at, e.at), e.event_number, length(a.prompt) + coalesce(length(a.ending), 0), a.ask_id
FROM events e CROSS JOIN asks a ON a.ask_id = e.subject
WHERE e.event_number > ?1 AND e.event_number < ?2
AND e.type IN ('ask.answered', 'ask.declined', 'ask.withdrawn', 'ask.expired', 'ask.superseded')
AND (?3 IS NULL OR a.kind = ?3) ORDER BY e.event_number DESC LIMIT ?4;

-- place_of_ask: Where an ask stands: in the order of opening, and in that of the last event that changed it.
SELECT a.ask_number, a.project_number, a.sequence FROM asks a WHERE a.ask_id = ?;

-- event_at: When an event happened, as it is placed among those of other logs: within its own, that never runs back.
SELECT coalesce(e.placed_at, e.at) FROM events e WHERE e.event_number = ?;

-- spans: Of the asks that a project opened between two numbers of the log, newest first: whose they are, when they were
-- opened and changed last, what they are now; of an approval also what a person said.
SELECT a.kind, a.state, a.asker, e.at, f.at, CASE WHEN a.kind = 'approval' AND a.state = 'answered' THEN a.ending END
FROM events e CROSS JOIN asks a ON a.ask_id = e.subject
CROSS JOIN events f ON f.event_number = a.project_number * 1099511627776 + a.sequence
WHERE e.event_number > ?1 AND e.event_number < ?2 AND e.type = 'ask.opened' ORDER BY e.event_number DESC LIMIT ?3;

-- oldest_open: When the ask was opened that waits longest in a project.
SELECT a.opened_at FROM asks a INDEXED BY asks_open WHERE a.state = 'open' AND a.project_number = ?
ORDER BY a.opened LIMIT 1;

-- count_open: How many asks of a project wait.
SELECT count(*) FROM asks a INDEXED BY asks_open
WHERE a.state = 'open' AND a.project_number = (SELECT project_number FROM projects WHERE project = ?);

-- due: The asks of a project whose deadline has passed, in that order. The index is named: the planner would take asks_open
-- and read every waiting ask in every transaction.
SELECT {ask} FROM asks a INDEXED BY asks_due JOIN projects p USING (project_number)
WHERE a.project_number = ? AND a.state = 'open' AND a.deadline IS NOT NULL AND a.flags & 1 = 0 AND a.deadline <= ?
ORDER BY a.deadline, a.ask_number;

-- has_due: The projects in which something is due.
SELECT p.project FROM projects p WHERE EXISTS (
  SELECT 1 FROM asks a INDEXED BY asks_due WHERE a.project_number = p.project_number AND a.state = 'open'
  AND a.deadline IS NOT NULL AND a.flags & 1 = 0 AND a.deadline <= ?) OR EXISTS (
  SELECT 1 FROM controls c INDEXED BY controls_open WHERE c.project_number = p.project_number AND c.is_settled = 0);

-- next_deadline: The earliest deadline of all projects.
SELECT min((SELECT min(a.deadline) FROM asks a INDEXED BY asks_due WHERE a.project_number = p.project_number
  AND a.state = 'open' AND a.deadline IS NOT NULL AND a.flags & 1 = 0)) FROM projects p;

-- insert_asks: New asks, several a statement.
INSERT INTO asks (ask_id, project_number, kind, state, key, digest, prompt, asker, run_id, opened_at, opened,
deadline, consequence, escalate_to, flags, sequence, ending, terms, action_digest, again) VALUES {rows};

-- insert_events: New events of the log, several a statement.
INSERT INTO events (event_number, at, type, subject, body, hash, topic, placed_at) VALUES {rows};

-- end_asks: The conditional write that decides; its row count is the verdict.
UPDATE asks SET state = v.column1, flags = v.column2, sequence = v.column3, ending = v.column4
FROM (VALUES {rows}) AS v WHERE asks.ask_id = v.column5 AND asks.state = 'open';

-- end_ask: The same for one ask, in half the time: most groups are of one.
UPDATE asks SET state = ?, flags = ?, sequence = ?, ending = ? WHERE ask_id = ? AND state = 'open';

-- mark_ask: An open ask is marked and stays open.
UPDATE asks SET flags = ?, sequence = ? WHERE ask_id = ? AND state = 'open';

-- claim_ask: Somebody is on it. Volatile: not in the log.
UPDATE asks SET claim = ? WHERE ask_id = ? AND state = 'open';

-- records: A project's log after a number.
SELECT e.event_number, e.at, e.type, e.subject, e.body, e.digest, e.hash, e.topic FROM events e
WHERE e.event_number > ? AND e.event_number < ? ORDER BY e.event_number LIMIT ?;

-- ended: The asks that ended after a number of the log, in that order.
SELECT {ask} FROM events e JOIN asks a ON a.ask_id = e.subject JOIN projects p USING (project_number)
WHERE e.event_number > ? AND e.event_number < ?
AND e.type IN ('ask.answered', 'ask.declined', 'ask.withdrawn', 'ask.expired', 'ask.superseded') ORDER BY e.event_number;

-- steps: A flow's journal from a step on, in order.
SELECT s.flow_id, s.step, s.digest, s.state, s.content, s.by FROM steps s JOIN projects p USING (project_number)
WHERE p.project = ? AND s.flow_id = ? AND s.step >= ? ORDER BY s.step;

-- all_steps: The journals of all flows of a project.
SELECT s.flow_id, s.step, s.digest, s.state, s.content, s.by FROM steps s JOIN projects p USING (project_number)
WHERE p.project = ? ORDER BY s.flow_id, s.step;

-- beginners: Who began the flows with these ids (a JSON list), of those that were begun.
SELECT s.flow_id, s.by FROM steps s
WHERE s.project_number = (SELECT project_number FROM projects WHERE project = ?)
AND s.flow_id IN (SELECT value FROM json_each(?)) AND s.step = 0;

-- put_step: An entry of a journal; an intended one becomes done.
INSERT INTO steps (project_number, flow_id, step, digest, state, content, by) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project_number, flow_id, step)
DO UPDATE SET state = excluded.state, content = excluded.content, by = excluded.by;

-- messages: A topic's events after a number.
SELECT e.event_number, e.at, e.topic, e.body FROM events e INDEXED BY events_topic
WHERE e.topic = ? AND e.event_number > ? AND e.event_number < ? ORDER BY e.event_number LIMIT ?;

-- open_asks_of_run: The asks that wait for a run.
SELECT {ask} FROM asks a INDEXED BY asks_run JOIN projects p USING (project_number)
WHERE a.project_number = ? AND a.state = 'open' AND a.run_id = ? ORDER BY a.ask_number;

-- decided: The last approvals of an action that people ended; the last to end comes first. What was dismissed decides
-- nothing, so more than one is wanted.
SELECT {ask} FROM asks a INDEXED BY asks_action JOIN projects p USING (project_number)
WHERE a.project_number = ? AND a.action_digest = ? AND a.action_digest IS NOT NULL
AND a.state IN ('answered', 'declined') ORDER BY a.sequence DESC LIMIT 100;

-- count_open_of: How many asks of one asker wait in a project.
SELECT count(*) FROM asks a INDEXED BY asks_asker WHERE a.state = 'open' AND a.project_number = ? AND a.asker = ?;

-- run: One run by its id.
SELECT r.record FROM runs r JOIN projects p USING (project_number) WHERE p.project = ? AND r.run_id = ?;

-- active_runs: The newest runs of a project that have not ended.
SELECT r.record, r.run_number FROM runs r INDEXED BY runs_active
WHERE r.is_active = 1 AND r.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY r.run_number DESC LIMIT ?;

-- runs: The newest runs of a project.
SELECT r.record, r.run_number FROM runs r JOIN projects p USING (project_number) WHERE p.project = ?
ORDER BY r.run_number DESC LIMIT ?;

-- changed_runs: The runs that changed after a number of the log, found by its events: an index of their own would cost
-- one more page with every change.
SELECT r.record FROM runs r WHERE r.project_number = ? AND r.run_id IN (
  SELECT e.subject FROM events e WHERE e.event_number > ? AND e.event_number < ? AND e.type GLOB 'run.*');

-- run_columns: All runs, with the columns by which they are found.
SELECT r.run_id, r.is_active, r.record FROM runs r;

-- put_run: A run that goes on, as it is now. Saying again that it is active would write the index of the active ones anew.
INSERT INTO runs (project_number, run_id, is_active, record) VALUES (?, ?, 1, ?)
ON CONFLICT (project_number, run_id) DO UPDATE SET record = excluded.record;

-- end_run: A run that has ended.
INSERT INTO runs (project_number, run_id, is_active, record) VALUES (?, ?, 0, ?)
ON CONFLICT (project_number, run_id) DO UPDATE SET is_active = excluded.is_active, record = excluded.record;

-- control: What is known of a request id.
SELECT c.record FROM controls c WHERE c.project_number = ? AND c.request_id = ?;

-- open_controls: The controls that wait to be taken up or executed, oldest first.
SELECT c.record FROM controls c INDEXED BY controls_open WHERE c.project_number = ? AND c.is_settled = 0
ORDER BY c.sequence;

-- all_controls: All controls of a project.
SELECT c.record FROM controls c JOIN projects p USING (project_number) WHERE p.project = ? ORDER BY c.request_id;

-- control_columns: All controls, with the columns by which they are found.
SELECT c.request_id, c.is_settled, c.sequence, c.record FROM controls c;

-- put_control: A control as it is now.
INSERT INTO controls (project_number, request_id, is_settled, sequence, record) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (project_number, request_id) DO UPDATE SET is_settled = excluded.is_settled,
sequence = excluded.sequence, record = excluded.record;

-- task: One task by its id.
SELECT t.record FROM tasks t JOIN projects p USING (project_number) WHERE p.project = ? AND t.task_id = ?;

-- tasks_of: All tasks of a project, in the order in which they were created.
SELECT t.task_id, t.record FROM tasks t INDEXED BY tasks_project WHERE t.project_number = ? ORDER BY t.task_number;

-- live_tasks: The newest tasks of a project that are not closed.
SELECT t.record, t.task_number FROM tasks t INDEXED BY tasks_live
WHERE t.status <> 'closed' AND t.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY t.task_number DESC LIMIT ?;

-- tasks: The newest tasks of a project.
SELECT t.record, t.task_number FROM tasks t INDEXED BY tasks_project
WHERE t.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY t.task_number DESC LIMIT ?;

-- task_columns: All tasks, with the columns by which they are found.
SELECT p.project, t.task_id, t.status, t.record FROM tasks t LEFT JOIN projects p USING (project_number);

-- put_tasks: Tasks as they are now, several a statement.
INSERT INTO tasks (project_number, task_id, status, record) VALUES {rows}
ON CONFLICT (project_number, task_id) DO UPDATE SET status = excluded.status, record = excluded.record;

-- notification: One notification by its id.
SELECT n.record FROM notifications n JOIN projects p USING (project_number)
WHERE p.project = ? AND n.notification_id = ?;

-- open_notifications_like: The open notifications of a project with a repeat key, oldest first.
SELECT n.notification_id, n.record FROM notifications n INDEXED BY notifications_repeat
WHERE n.project_number = ? AND n.is_open = 1 AND n.repeat_key = ? ORDER BY n.notification_number;

-- notifications_of_ask: The notifications that are a view of an ask, oldest first.
SELECT n.notification_id, n.record FROM notifications n INDEXED BY notifications_ask
WHERE n.project_number = ? AND n.ask_id = ? ORDER BY n.notification_number;

-- notifications_about: The notifications about one source, open and resolved, oldest first.
SELECT n.notification_id, n.record FROM notifications n INDEXED BY notifications_source
WHERE n.project_number = (SELECT project_number FROM projects WHERE project = ?) AND n.source = ? AND n.source_id = ?
ORDER BY n.notification_number;

-- open_notifications: The newest open notifications of a project.
SELECT n.record, n.notification_number FROM notifications n INDEXED BY notifications_open
WHERE n.is_open = 1 AND n.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY n.notification_number DESC LIMIT ?;

-- notifications: The newest notifications of a project.
SELECT n.record, n.notification_number FROM notifications n JOIN projects p USING (project_number) WHERE p.project = ?
ORDER BY n.notification_number DESC LIMIT ?;

-- count_notifications: How many notifications of a project are open.
SELECT count(*) FROM notifications n INDEXED BY notifications_open
WHERE n.is_open = 1 AND n.project_number = (SELECT project_number FROM projects WHERE project = ?);

-- notification_columns: All notifications, with the columns by which they are found.
SELECT p.project, n.notification_id, n.is_open, n.source, n.source_id, n.ask_id, n.record FROM notifications n
LEFT JOIN projects p USING (project_number);

-- put_notifications: Notifications as they are now, several a statement.
INSERT INTO notifications (project_number, notification_id, is_open, source, source_id, repeat_key, ask_id, record)
VALUES {rows} ON CONFLICT (project_number, notification_id) DO UPDATE SET is_open = excluded.is_open,
source = excluded.source, source_id = excluded.source_id, repeat_key = excluded.repeat_key,
ask_id = excluded.ask_id, record = excluded.record;

-- secret: What this store derives ids from.
SELECT secret FROM store_secret;

-- policy: The policy of a project, if one was set.
SELECT o.record FROM policies o WHERE o.project_number = (SELECT project_number FROM projects WHERE project = ?);

-- policy_columns: All policies, with the project that each is found by.
SELECT p.project, o.record FROM policies o LEFT JOIN projects p USING (project_number);

-- put_policy: The policy of a project as it is now.
INSERT INTO policies (project_number, record) VALUES (?, ?)
ON CONFLICT (project_number) DO UPDATE SET record = excluded.record;

-- token: One token by its id.
SELECT k.record FROM tokens k JOIN projects p USING (project_number) WHERE p.project = ? AND k.token_id = ?;

-- tokens: The newest tokens of a project, also those that have ended.
SELECT k.record, k.token_number FROM tokens k INDEXED BY tokens_project
WHERE k.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY k.token_number DESC LIMIT ?;

-- token_by_digest: The token whose secret has this digest, of whichever project.
SELECT k.record FROM tokens k WHERE k.digest = ?;

-- token_columns: All tokens, with the columns by which they are found.
SELECT p.project, k.token_id, k.digest, k.record FROM tokens k LEFT JOIN projects p USING (project_number);

-- put_token: A token as it is now. Its digest never changes.
INSERT INTO tokens (project_number, token_id, digest, record) VALUES (?, ?, ?, ?)
ON CONFLICT (project_number, token_id) DO UPDATE SET record = excluded.record;

-- receipt: One receipt by its id.
SELECT r.record FROM receipts r JOIN projects p USING (project_number) WHERE p.project = ? AND r.receipt_id = ?;

-- receipt_by_key: The receipt that holds a key.
SELECT r.record FROM receipts r INDEXED BY receipts_key
WHERE r.project_number = ? AND r.key IS NOT NULL AND r.key = ?;

-- receipts: The newest receipts of a project.
SELECT r.record FROM receipts r INDEXED BY receipts_project
WHERE r.project_number = (SELECT project_number FROM projects WHERE project = ?)
ORDER BY r.receipt_number DESC LIMIT ?;

-- receipt_columns: All receipts, with the columns by which they are found.
SELECT p.project, r.receipt_id, r.key, r.is_redeemed, r.record FROM receipts r
LEFT JOIN projects p USING (project_number);

-- insert_receipt: A receipt that was granted.
INSERT INTO receipts (project_number, receipt_id, key, is_redeemed, record) VALUES (?, ?, ?, ?, ?);

-- redeem_receipt: The conditional write that redeems; its row count is the verdict.
UPDATE receipts SET is_redeemed = ?, record = ? WHERE project_number = ? AND receipt_id = ? AND is_redeemed = 0;

-- done_command: Whether a command was done, and as what.
SELECT d.digest, d.sequence FROM done_commands d WHERE d.project_number = ? AND d.command_id = ?;

-- insert_done_command: A command that was done.
INSERT INTO done_commands (project_number, command_id, digest, sequence) VALUES (?, ?, ?, ?);

-- tail: What is kept of a run's output.
SELECT l.text, l.written, l.at, l.command_id FROM tails l JOIN projects p USING (project_number)
WHERE p.project = ? AND l.run_id = ?;

-- put_tail: What is kept of a run's output, as it is now. Volatile: not in the log.
INSERT INTO tails (project_number, run_id, text, written, at, command_id) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project_number, run_id) DO UPDATE SET text = excluded.text, written = excluded.written,
at = excluded.at, command_id = excluded.command_id;

-- drop_tails: Of the ended runs of a project, all but the newest lose their tail. There are never many to sort.
DELETE FROM tails WHERE project_number = ? AND run_id IN (
  SELECT l.run_id FROM tails l JOIN runs r USING (project_number, run_id)
  WHERE l.project_number = ? AND r.is_active = 0 ORDER BY r.run_number DESC LIMIT -1 OFFSET ?);

-- target: One target by its name, with its secret and how far it is.
SELECT g.record, g.secret, g.cursor, g.fence, g.lease_until, g.attempts, g.next_try_at, g.last_error
FROM targets g JOIN projects p USING (project_number) WHERE p.project = ? AND g.name = ?;

-- targets: All targets of a project, oldest first, without their secrets. People make them, so they are few.
SELECT g.record, g.cursor, g.fence, g.lease_until, g.attempts, g.next_try_at, g.last_error FROM targets g
WHERE g.project_number = (SELECT project_number FROM projects WHERE project = ?) ORDER BY g.target_number;

-- due_targets: The targets of all projects that may have to be told of something, and that nobody has just now. No lease
-- and no pause lasts for a day: one that does was set by a clock that was ahead.
SELECT p.project, g.name, g.cursor, p.sequence FROM targets g INDEXED BY targets_live JOIN projects p USING (project_number)
WHERE g.is_live = 1 AND g.cursor < p.sequence AND (g.lease_until <= ?1 OR g.lease_until > ?1 + 86400000000)
AND (g.next_try_at <= ?1 OR g.next_try_at > ?1 + 86400000000);

-- target_columns: All targets, with the columns by which they are found.
SELECT p.project, g.name, g.is_live, g.record FROM targets g LEFT JOIN projects p USING (project_number);

-- put_target: A target as it is now. Where it is a new one under an old name, it begins behind the event that added it.
INSERT INTO targets (project_number, name, is_live, record, secret, cursor) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (project_number, name) DO UPDATE SET is_live = excluded.is_live, record = excluded.record,
secret = excluded.secret, cursor = max(cursor, excluded.cursor),
fence = CASE WHEN excluded.cursor > cursor THEN fence + 1 ELSE fence END,
lease_until = CASE WHEN excluded.cursor > cursor THEN 0 ELSE lease_until END,
attempts = CASE WHEN excluded.cursor > cursor THEN 0 ELSE attempts END,
next_try_at = CASE WHEN excluded.cursor > cursor THEN 0 ELSE next_try_at END,
last_error = CASE WHEN excluded.cursor > cursor THEN '' ELSE last_error END;

-- claim_target: The conditional write that gives a target to one sender, under a new fence. Nothing is returned where
-- somebody has it.
UPDATE targets SET fence = fence + 1, lease_until = ?4
WHERE project_number = (SELECT project_number FROM projects WHERE project = ?1) AND name = ?2
AND is_live = 1 AND (lease_until <= ?3 OR lease_until > ?3 + 86400000000)
AND (next_try_at <= ?3 OR next_try_at > ?3 + 86400000000)
RETURNING record, secret, cursor, fence, lease_until, attempts, next_try_at, last_error;

-- advance_target: It was told of everything up to an event; its sender keeps it. Only under the fence of the claim.
UPDATE targets SET cursor = max(cursor, ?4), lease_until = ?5, attempts = 0, next_try_at = 0, last_error = ''
WHERE project_number = (SELECT project_number FROM projects WHERE project = ?1) AND name = ?2
AND fence = ?3 AND is_live = 1 RETURNING cursor;

-- keep_target: Its sender keeps it for some time more. Only under the fence of the claim.
UPDATE targets SET lease_until = ?4
WHERE project_number = (SELECT project_number FROM projects WHERE project = ?1) AND name = ?2
AND fence = ?3 AND is_live = 1 RETURNING cursor;

-- put_off_target: A message could not be delivered; it is tried again later. Only under the fence of the claim.
UPDATE targets SET attempts = attempts + 1, next_try_at = ?4, last_error = ?5, lease_until = 0
WHERE project_number = (SELECT project_number FROM projects WHERE project = ?1) AND name = ?2
AND fence = ?3 AND is_live = 1 RETURNING attempts;

-- target_message: How the message that told a target of an ask is known there.
SELECT m.reference FROM target_messages m
WHERE m.project_number = (SELECT project_number FROM projects WHERE project = ?) AND m.name = ? AND m.ask_id = ?;

-- put_target_message: As above, to be kept.
INSERT INTO target_messages (project_number, name, ask_id, reference)
SELECT p.project_number, ?2, ?3, ?4 FROM projects p WHERE p.project = ?1
ON CONFLICT (project_number, name, ask_id) DO UPDATE SET reference = excluded.reference;

-- drop_target_message: The ask has ended, and the message was changed for the last time.
DELETE FROM target_messages
WHERE project_number = (SELECT project_number FROM projects WHERE project = ?) AND name = ? AND ask_id = ?;

-- drop_target_messages: The target was removed.
DELETE FROM target_messages WHERE project_number = ? AND name = ?;
