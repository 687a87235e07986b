// What happened, in words: how an ask ended, what an event of the log says, and how the log is read from its end. Pure.

import { endOf } from "/page/rows.js";
import { nameOnly } from "/page/text.js";

export const ASSURANCE = {
  token: "server checked it",
  terminal: "typed at a controlling terminal",
  declared: "a process said so",
};

const APPROVE = "Approve";
const isYes = (answer) => Object.values(answer.values).flat().join("\n") === APPROVE;

// A sign and a word for how an ask ended.
export function outcomeOf(ask) {
  if (ask.state === "answered" && ask.kind === "approval") {
    return isYes(ask.answer) ? ["i-tick", "approved"] : ["i-no", "rejected"];
  }
  const icons = { answered: "i-tick", declined: "i-no", withdrawn: "i-undo", expired: "i-clock", superseded: "i-split" };
  return [icons[ask.state] ?? "i-alert", ask.state === "superseded" ? "asked anew" : ask.state];
}

// What was said, or why it ended: as people read it, with labels and not with keys.
export function detailOf(ask) {
  if (ask.state === "answered") return ask.kind === "approval" ? "" : answerWords(ask);
  const { reason, consequence } = ask.outcome ?? {};
  if (ask.state === "expired") {
    return { deny: "nobody answered in time, counts as no", "end-run": "nobody answered in time, its run ended" }[consequence] ?? reason ?? "";
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

export const tookMs = (ask) => Math.max(0, Date.parse(endOf(ask).at) - Date.parse(ask.opened_at));

// Searching: every word must be there, in whatever part.

export const wordsIn = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
export const fits = (text, words) => words.every((word) => text.includes(word));

export function askText(ask) {
  const end = endOf(ask);
  const parts = [
    ask.prompt.title, ask.prompt.body, ask.project, ask.kind.replace("_", " "), ask.asker, ask.run_id, ask.key, ask.ask_id, ask.digest,
    outcomeOf(ask)[1], ask.state, detailOf(ask), end.by, end.via, end.assurance, ask.sequence,
  ];
  return parts.filter(Boolean).join("\n").toLowerCase();
}

export const eventText = (event) =>
  [event.sequence, event.type, event.subject, sayEvent(event), JSON.stringify(event.data)].join("\n").toLowerCase();

// The log

// The events above `low` and up to `high`, newest first. A reply may end early where events are large, so it is asked on.
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

const loop = (frame) => `${frame.mode}, up to ${frame.max} iterations${frame.model ? `, ${frame.model}` : ""}`;
const depth = (told) => (told.depth ? ` (loop ${told.depth + 1} of its stack)` : "");
const by = (told) => nameOnly(told.by);

function sayEnd({ outcome }) {
  if (outcome.consequence) return `nobody answered in time: ${outcome.consequence}`;
  if (outcome.successor) return "a newer ask took its place";
  return [nameOnly(outcome.by), outcome.reason].filter(Boolean).join(": ");
}

function sayMessage({ message }) {
  const { status, code, message: text, previous_model: from, new_model: to } = message.payload ?? {};
  const what = text || [from, to].filter(Boolean).join(" to ");
  return [`${message.type} ${message.command}`, [status, code].filter(Boolean).join(" "), what].filter(Boolean).join(": ");
}

const WORDS = {
  "ask.opened": (told) => `${told.asker} asks: ${told.prompt.title}`,
  "ask.answered": ({ answer }) =>
    `${nameOnly(answer.by)}: ${Object.values(answer.values).map((given) => given.join(", ")).join("; ")} (${answer.via}, ${answer.assurance})`,
  "ask.declined": sayEnd,
  "ask.withdrawn": sayEnd,
  "ask.expired": sayEnd,
  "ask.superseded": sayEnd,
  "ask.overdue": () => "its time is up, and it waits on",
  "ask.escalated": (told) => `${told.to} is asked, too`,
  "ask.undelivered": (told) => `shown nowhere: ${told.reason}`,
  "run.started": (told) => `${by(told)} starts it (${loop(told.frame)})${told.title ? `: ${told.title}` : ""}`,
  "run.taken": (told) => `${told.driver} goes on with it, as its driver number ${told.fence}`,
  "run.turn_begun": (told) => `iteration ${told.number} begins${told.attempt > 1 ? `, attempt ${told.attempt}` : ""}${depth(told)}`,
  "run.turn_ended": (told) => `iteration ${told.number} ${told.failure ? `has failed: ${told.failure}` : "is over"}${depth(told)}`,
  "run.frame_pushed": (told) => `a loop inside it begins (${loop(told.frame)})`,
  "run.frame_popped": (told) => `the loop inside it is over: ${told.reason}`,
  "run.paused": (told) => `${by(told)} paused it`,
  "run.resumed": (told) => `${by(told)} resumed it`,
  "run.escalated": (told) => `${by(told)} escalated it to ${told.model}${told.reason ? `: ${told.reason}` : ""}`,
  "run.done": (told) => `done: ${told.reason}`,
  "run.aborted": (told) => ["aborted", told.reason, told.note].filter(Boolean).join(": "),
  "control.requested": (told) => `${by(told)} sends REQUEST ${told.request.command}`,
  "control.acknowledged": sayMessage,
  "control.resolved": sayMessage,
  "control.replied": sayMessage,
  "control.expired": () => "nobody took it up in time; it is not executed",
  "control.repeated": (told) => `${by(told)} sends what begins nothing`,
  "control.malformed": (told) => `${by(told)} sends what is no message: ${told.problem}`,
  "topic.posted": (told) => `${by(told)}: ${JSON.stringify(told.message)}`,
  "flow.stepped": (told) => `${told.step.flow_id}, step ${told.step.step}: ${told.step.state}`,
  "notification.added": (told) => `${by(told)} tells about ${told.source} ${told.source_id}`,
  "notification.resolved": (told) => `${by(told)} ${told.is_dismissed ? "dismissed" : "answered"} it`,
  "task.created": (told) => `${by(told)}: ${told.title}`,
  "task.updated": (told) => [by(told), [told.title, told.status, told.blockReason].filter(Boolean).join(", ")].join(": "),
  "policy.set": (told) =>
    `${by(told)} sets ${Object.entries(told.after).filter(([name, level]) => told.before[name] !== level).map(([name, level]) => `${name} to ${level}`).join(", ")}`,
  "receipt.granted": (told) => `${told.asker} may go on: ${told.title}`,
  "receipt.redeemed": (told) => `${by(told)} redeemed it`,
  "token.created": (told) => `${by(told)} makes a token for ${told.role}:${told.name}`,
  "token.revoked": (told) => `${by(told)} revoked it`,
};

const LONGEST = 240;

// An event in a few words; one that is not known, or not as we know it, is told by its type alone.
export function sayEvent({ type, data }) {
  if (data === null || data === undefined) return "not shown: erased, or not yours to see";
  let words;
  try {
    words = Object.hasOwn(WORDS, type) ? String(WORDS[type](data)) : String(data.reason ?? "");
  } catch {
    return "";
  }
  return words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
}

// One run

// What of a log is about a run, oldest first: its own events, what was asked in it, what it was told to do. Those that
// only name an ask or a request are known by the event that began it, which is older.
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
      (type.startsWith("ask.") && ids.has(data.ask_id)) || (type.startsWith("control.") && ids.has(data.request_id));
    if (isOwn || isOfKnown) found.push(event);
  }
  return found;
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
  "run.started": "s-running", "run.taken": "s-running", "run.resumed": "s-running", "run.paused": "s-paused", "run.done": "s-done",
  "run.aborted": "s-abort", "run.turn_begun": "i-runs", "run.escalated": "i-up", "ask.opened": "k-question", "ask.answered": "i-tick",
  "ask.declined": "i-no", "ask.withdrawn": "i-undo", "ask.expired": "i-clock", "ask.superseded": "i-split", "ask.overdue": "i-clock",
};

export function signOf({ type, data }) {
  if (type === "ask.opened") return { open_question: "k-open" }[data.kind] ?? `k-${data.kind}`;
  return SIGNS[type] ?? (type.startsWith("control.") ? "i-arrow" : "i-history");
}
