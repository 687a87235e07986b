// What happened: how an ask ended, how the log is read from its end, and what of it is about one run. Pure.

import { sayEvent } from "/page/event-words.js";
import { spell } from "/page/json.js";
import { endOf } from "/page/rows.js";
import { day } from "/page/time.js";

export const ASSURANCE = {
  token: "server checked it",
  terminal: "typed at a terminal",
  declared: "a process said so",
  host: "the agent's host said so",
  comment: "anybody with that login can write it",
};

const APPROVE = "Approve";
export const isYes = (answer) => Object.values(answer.values).flat().join("\n") === APPROVE;

// A sign and a word for how an ask ended.
export function outcomeOf(ask) {
  if (ask.state === "answered" && ask.kind === "approval") {
    return isYes(ask.answer) ? ["i-tick", "approved"] : ["i-no", "rejected"];
  }
  const icons = {
    answered: "i-tick",
    declined: "i-no",
    withdrawn: "i-undo",
    expired: "i-clock",
    superseded: "i-split",
  };
  return [icons[ask.state] ?? "i-alert", ask.state === "superseded" ? "asked anew" : ask.state];
}

// What was said, or why it ended: as people read it, with labels and not with keys.
export function detailOf(ask) {
  if (ask.state === "answered") {
    const why = ask.answer.reason ? `“${ask.answer.reason}”` : "";
    return ask.kind === "approval" ? why : [answerWords(ask), why].filter(Boolean).join(" ");
  }
  const { reason, consequence } = ask.outcome ?? {};
  if (ask.state === "expired") {
    return (
      { deny: "nobody answered in time, counts as no", "end-run": "nobody answered in time, its run ended" }[
        consequence
      ] ??
      reason ??
      ""
    );
  }
  return reason ? `“${reason}”` : "";
}

export function answerWords({ prompt, answer }) {
  const said = prompt.fields.map((field) => {
    const given = answer.values[field.name] ?? [];
    const words = given.map((value) => {
      const option = field.options.find((each) => each.key === value);
      if (option) return option.label;
      return field.options.length ? `own words: “${value}”` : `“${value}”`;
    });
    return words.join(", ");
  });
  const known = said.filter(Boolean).join("; ");
  return known || Object.values(answer.values).flat().join(", ") || answer.text;
}

const count = (value) => value.toLocaleString("en-GB");

export const tookMs = (ask) => Math.max(0, Date.parse(endOf(ask).at) - Date.parse(ask.opened_at));

// Searching: every word must be there, in whatever part.

export const wordsIn = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
export const fits = (text, words) => words.every((word) => text.includes(word));

export function askText(ask) {
  const end = endOf(ask);
  const parts = [
    ask.prompt.title,
    ask.prompt.body,
    ask.project,
    ask.kind.replace("_", " "),
    ask.asker,
    ask.run_id,
    ask.key,
    ask.ask_id,
    ask.digest,
    outcomeOf(ask)[1],
    ask.state,
    detailOf(ask),
    end.by,
    end.via,
    end.assurance,
    end.is_unattended && "unattended",
    ask.sequence,
  ];
  return parts.filter(Boolean).join("\n").toLowerCase();
}

export const eventText = (event) =>
  [event.sequence, event.type, event.subject, sayEvent(event), spell(event.data)]
    .join("\n")
    .toLowerCase();

// The log

// The events above `low` and up to `high`, newest first. A reply may end early where events are large.
export async function readDown(read, low, high) {
  const found = [];
  let after = low;
  while (after < high) {
    const { events } = await read({ after, limit: high - after });
    if (!events.length) break;
    found.push(...events.filter((event) => event.sequence <= high));
    after = events.at(-1).sequence;
  }
  return found.reverse();
}

// How far the log was read, and what was found there.
export function sayReach(high, low, found) {
  const what = found === null ? "Read" : `${count(found)} found; searched`;
  const rest = low === 0 ? "which is all" : `${count(low)} are older`;
  return `${what} the events from ${count(high)} down to ${count(low + 1)}, ${rest}.`;
}

// Entries by their day, in the order in which they come.
export function byDay(entries, at = (entry) => entry.at) {
  const days = [];
  for (const entry of entries) {
    const name = day(at(entry));
    if (days.at(-1)?.name !== name) days.push({ name, entries: [] });
    days.at(-1).entries.push(entry);
  }
  return days;
}

// One run

// What of a log is about a run, oldest first: its own events, what was asked in it, what it was told to do.
// An event that only names an ask or a request is known by the one that began it, which is older.
export function eventsOfRun(events, runId) {
  const ids = new Set();
  const found = [];
  for (const event of [...events].sort((a, b) => a.sequence - b.sequence)) {
    const { type, data } = event;
    if (!data) continue;
    const isOwn =
      (type.startsWith("run.") && data.run_id === runId) ||
      (type === "ask.opened" && data.run_id === runId) ||
      (type === "control.requested" && data.request?.run_id === runId);
    if (isOwn && data.ask_id) ids.add(data.ask_id);
    if (isOwn && data.request) ids.add(data.request.request_id);
    const isOfKnown =
      (type.startsWith("ask.") && ids.has(data.ask_id)) ||
      (type.startsWith("control.") && ids.has(data.request_id));
    if (isOwn || isOfKnown) found.push(event);
  }
  return found;
}

// What could be about a run, as far as the event itself says: ends and replies name only an ask or a request.
export function mayBeOf({ type, data }, runId) {
  if (!data || !/^(run|ask|control)\./.test(type)) return false;
  return type === "ask.opened" || data.run_id ? data.run_id === runId : true;
}

export const isStartOf = (event, runId) => event.type === "run.started" && event.data?.run_id === runId;

// Iterations as one entry each, with how long they took; everything else as it is.
export function entriesOf(events) {
  const entries = [];
  const open = new Map();
  for (const event of events) {
    const { type, data } = event;
    const name = `${data.depth}/${data.number}`;
    if (type === "run.turn_begun") {
      const entry = { event, end: null };
      open.set(name, entry);
      entries.push(entry);
    } else if (type === "run.turn_ended" && open.has(name)) {
      open.get(name).end = event;
      open.delete(name);
    } else entries.push({ event, end: null });
  }
  return entries;
}

const SIGNS = {
  "run.started": "s-running",
  "run.taken": "s-running",
  "run.resumed": "s-running",
  "run.paused": "s-paused",
  "run.held": "s-paused",
  "run.done": "s-done",
  "run.aborted": "s-abort",
  "run.turn_begun": "i-runs",
  "run.escalated": "i-up",
  "ask.opened": "k-question",
  "ask.answered": "i-tick",
  "ask.declined": "i-no",
  "ask.withdrawn": "i-undo",
  "ask.expired": "i-clock",
  "ask.superseded": "i-split",
  "ask.overdue": "i-clock",
};

export function signOf({ type, data }) {
  if (type === "ask.opened") return { open_question: "k-open" }[data.kind] ?? `k-${data.kind}`;
  return SIGNS[type] ?? (type.startsWith("control.") ? "i-arrow" : "i-history");
}
