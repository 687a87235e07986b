// An event of the log in a few words; cli/log_line.py says the same in a terminal. Pure.
//
// What agents wrote is in these words as it is: whoever shows them passes them through Text.

import { spell } from "/page/json.js";
import { firstLine, nameOnly } from "/page/text.js";

const loop = (frame) =>
  `${frame.mode}, up to ${frame.max} iterations${frame.model ? `, ${frame.model}` : ""}`;
const depth = (told) => (told.depth ? ` (loop ${told.depth + 1} of its stack)` : "");
const by = (told) => nameOnly(told.by);

// By which door a person answered, how sure that is, and whether nobody was there.
function sayHow({ by: who, via, assurance, is_unattended: isUnattended }) {
  const isLogin = assurance === "comment" || (assurance === "declared" && String(who ?? "").endsWith("@github"));
  const login = isLogin && "by a comment, which anybody with that login can write";
  const how = [via, assurance, login, isUnattended && "unattended"].filter(Boolean);
  return how.length ? ` (${how.join(", ")})` : "";
}

function sayAnswer({ answer, is_unattended: isUnattended }) {
  const said = Object.values(answer.values).map((given) => given.join(", "));
  const reason = answer.reason ? `: “${answer.reason}”` : "";
  return `${nameOnly(answer.by)}: ${said.join("; ")}${reason}${sayHow({ ...answer, is_unattended: isUnattended || answer.is_unattended })}`;
}

function sayEnd({ outcome }) {
  if (outcome.consequence) return `nobody answered in time: ${outcome.consequence}`;
  if (outcome.successor) return "a newer ask took its place";
  return [nameOnly(outcome.by), outcome.reason].filter(Boolean).join(": ") + sayHow(outcome);
}

function sayMessage({ message }) {
  const { status, code, message: text, previous_model: from, new_model: to } = message.payload ?? {};
  const what = text || [from, to].filter(Boolean).join(" to ");
  return [`${message.type} ${message.command}`, [status, code].filter(Boolean).join(" "), what]
    .filter(Boolean)
    .join(": ");
}

const WORDS = {
  "ask.opened": (told) => `${told.asker} asks: ${firstLine(told.prompt.title)}`,
  "ask.answered": sayAnswer,
  "ask.declined": sayEnd,
  "ask.withdrawn": sayEnd,
  "ask.expired": sayEnd,
  "ask.superseded": sayEnd,
  "ask.overdue": () => "its time is up, and it waits on",
  "ask.escalated": (told) => `${told.to} is asked, too`,
  "ask.undelivered": (told) => `shown nowhere: ${told.reason}`,
  "run.started": (told) =>
    `${by(told)} starts it (${loop(told.frame)})${told.title ? `: ${told.title}` : ""}`,
  "run.taken": (told) => `${told.driver} goes on with it, as its driver number ${told.fence}`,
  "run.turn_begun": (told) =>
    `iteration ${told.number} begins${told.attempt > 1 ? `, attempt ${told.attempt}` : ""}${depth(told)}`,
  "run.turn_ended": (told) =>
    `iteration ${told.number} ${told.failure ? `has failed: ${told.failure}` : "is over"}${depth(told)}`,
  "run.frame_pushed": (told) => `a loop inside it begins (${loop(told.frame)})`,
  "run.frame_popped": (told) => `the loop inside it is over: ${told.reason}`,
  "run.paused": (told) => `${by(told)} paused it`,
  "run.held": (told) => `its work is over: ${told.reason}, held until somebody resumes it`,
  "run.resumed": (told) => `${by(told)} resumed it`,
  "run.escalated": (told) =>
    `${by(told)} escalated it to ${told.model}${told.reason ? `: ${told.reason}` : ""}`,
  "run.done": (told) => `done: ${told.reason}`,
  "run.aborted": (told) => ["aborted", told.reason, told.note].filter(Boolean).join(": "),
  "control.requested": (told) => `${by(told)} sends REQUEST ${told.request.command}`,
  "control.acknowledged": sayMessage,
  "control.resolved": sayMessage,
  "control.replied": sayMessage,
  "control.expired": () => "nobody took it up in time; it is not executed",
  "control.repeated": (told) => `${by(told)} sends what begins nothing`,
  "control.malformed": (told) => `${by(told)} sends what is no message: ${told.problem}`,
  "topic.posted": (told) => `${by(told)}: ${spell(told.message)}`,
  "store.restored": (told) => `${by(told)} restored it from a backup, as of event ${told.message.sequence}`,
  "flow.stepped": (told) => `${told.step.flow_id}, step ${told.step.step}: ${told.step.state}`,
  "notification.added": (told) => `${by(told)} tells about ${told.source} ${told.source_id}`,
  "notification.resolved": (told) => `${by(told)} ${told.is_dismissed ? "dismissed" : "answered"} it`,
  "task.created": (told) => `${by(told)}: ${told.title}`,
  "task.updated": (told) =>
    [by(told), [told.title, told.status, told.blockReason].filter(Boolean).join(", ")].join(": "),
  "policy.set": (told) =>
    `${by(told)} sets ${Object.entries(told.after)
      .filter(([name, level]) => told.before[name] !== level)
      .map(([name, level]) => `${name} to ${level}`)
      .join(", ")}`,
  "receipt.granted": (told) => `${told.asker} may go on: ${told.title}`,
  "receipt.redeemed": (told) => `${by(told)} redeemed it`,
  "token.created": (told) => `${by(told)} makes a token for ${told.role}:${told.name}`,
  "token.revoked": (told) => `${by(told)} revoked it`,
  "target.added": (told) => `${by(told)} has ${told.service} at ${told.host} told of asks`,
  "target.removed": (told) => `${by(told)} removed it`,
  "target.failed": (told) => `gave up to tell that ${told.ask_id} was ${told.what}: ${told.error}`,
};

const TOO_LONG = /^([^]{240})[^]+/u; // never inside of a character

// An event in a few words; one that is not known, or not as we know it, is told by its type alone.
export function sayEvent({ type, data }) {
  if (data === null || data === undefined) return "not shown: erased, or not yours to see";
  let words;
  try {
    words = Object.hasOwn(WORDS, type) ? String(WORDS[type](data)) : String(data.reason ?? "");
  } catch {
    return "";
  }
  return words.replace(TOO_LONG, "$1…");
}
