// What is said of a run: its state, where it is, what it waits for; and in which order runs stand. Pure.

import { clock, span } from "/page/time.js";

export const STATES = {
  running: { icon: "s-running", name: "running", tag: "" },
  pausing: { icon: "s-pausing", name: "pausing", tag: "tag-caution" },
  paused: { icon: "s-paused", name: "paused", tag: "" },
  stale: { icon: "s-stale", name: "stale", tag: "tag-caution" },
  done: { icon: "s-done", name: "finished", tag: "" },
  cancelled: { icon: "s-abort", name: "cancelled", tag: "" },
  aborted: { icon: "s-abort", name: "aborted", tag: "tag-danger" },
};

const NO_TIME = "no time";
const STALE_AFTER_MS = 7_200_000; // as protocol/run.py has it: the server says so only when it is asked

export const isEnded = (run) => run.status === "done" || run.status === "aborted";
export const topOf = (run) => run.record.levels.at(-1);
export const bottomOf = (run) => run.record.levels[0];

// The server says `aborted` of both; that a person ended it is another thing than that it broke.
export function stateOf(run, now) {
  if (run.status === "aborted" && run.reason === "USER_CANCELLED") return "cancelled";
  const isSilent = run.status === "running" && !run.driver && now - Date.parse(run.updated_at) > STALE_AFTER_MS;
  return isSilent ? "stale" : run.status;
}

export const nameOf = (run) => run.title || frameName(bottomOf(run).frame);

export function frameName(frame) {
  return [frame.mode, frame.issue_id ?? frame.filter].filter(Boolean).join(" ");
}

// 41 s is 0:41: it stands beside a number that goes on counting, and must not jump about.
function stopwatch(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

const openFor = (level, now) => (level.begun_at ? stopwatch(now - Date.parse(level.begun_at)) : NO_TIME);
const person = (principal) => String(principal ?? "").replace(/^human:/, "");

export const progress = ({ frame }) => `${Math.max(1, frame.iter)} of ${frame.max}`;

// How far the loop has come, in hundredths. What is still open of a loop that is to stand still is shown by itself.
export function meter({ frame, is_open: isOpen }, isPausing = false) {
  const whole = Math.max(1, frame.max);
  const isLast = isPausing && isOpen;
  const come = Math.min(whole, Math.max(0, isLast ? frame.iter - 1 : frame.iter));
  return { done: (100 * come) / whole, open: isLast ? Math.max(1, 100 / whole) : 0 };
}

export function modelOf(run) {
  const { frame, is_escalated: isEscalated } = topOf(run);
  if (!frame.model) return "";
  return isEscalated ? `${frame.model}, escalated` : frame.model;
}

const KINDS = { approval: "an approval", gate: "a gate", confirm: "a confirmation", finding: "a finding" };

export function waitsFor(asks) {
  if (!asks.length) return "";
  if (asks.length > 1) return `${asks.length} asks wait for you`;
  return `waits for ${KINDS[asks[0].kind] ?? "an answer"}`;
}

// The last words of a row: what a person should know of this run before they open it.
export function rowWords(run, asks, now) {
  const { record } = run;
  switch (stateOf(run, now)) {
    case "pausing":
      return `iteration ${bottomOf(run).frame.iter} still open, ${openFor(bottomOf(run), now)}`;
    case "paused":
      return `by ${person(record.paused_by)}, ${span(now - Date.parse(record.paused_at))} ago`;
    case "stale":
      return `no live driver, silent for ${span(now - Date.parse(run.updated_at))}`;
    case "done":
      return `${run.reason}, ${clock(run.ended_at)}`;
    case "cancelled":
      return `by ${person(record.ended_by)}, ${clock(run.ended_at)}`;
    case "aborted":
      return `${run.reason ?? "ended"}, ${clock(run.ended_at)}`;
    default:
      return waitsFor(asks) || (run.driver ? "" : "no live driver");
  }
}

const STILL_COUNT = "Commands still count: whoever drives it next is bound by them.";
const GOES_ON = "It goes on as soon as somebody drives it again.";
const UNDRIVEN = "Nobody drives it just now.";

// One sentence or two under the title: what holds now, and what follows from it.
export function headWords(run, now) {
  const { record } = run;
  const top = topOf(run);
  // Of a loop inside a loop the number alone would be taken for the outer one's.
  const inner = record.levels.length > 1 ? ` of ${frameName(top.frame)}` : "";
  const current = `Iteration ${top.frame.iter}${inner}`;
  const attempt = top.attempt > 1 ? ` It was interrupted before: this is attempt ${top.attempt}.` : "";
  switch (stateOf(run, now)) {
    case "pausing":
      return `No new iteration starts. ${current} is still running, ${openFor(top, now)}.`;
    case "paused":
      return (
        `No new iteration starts until somebody resumes it. Paused by ${person(record.paused_by)} ` +
        `${span(now - Date.parse(record.paused_at))} ago.${run.driver ? "" : ` ${UNDRIVEN}`}`
      );
    case "stale":
      return `No live driver, and silent for ${span(now - Date.parse(run.updated_at))}. ${STILL_COUNT}`;
    case "done":
      return `It ended by itself at iteration ${run.iteration} of ${run.max}: ${run.reason}.`;
    case "cancelled":
      return `Cancelled by ${person(record.ended_by)} at iteration ${run.iteration} of ${run.max}.`;
    case "aborted":
      return `It broke off at iteration ${run.iteration} of ${run.max}${run.note ? `: ${run.note}` : "."}`;
    default:
      if (!run.driver) return `No live driver: its process is gone, or cannot be reached. ${GOES_ON}`;
      if (!top.is_open) return "Between two iterations.";
      return `${current} is running, ${openFor(top, now)}.${attempt}`;
  }
}

// Active runs in the order in which they began, newest first: a run that changes must not move under the hand.
export function order(runs) {
  const by = (part) => (a, b) => Date.parse(b[part]) - Date.parse(a[part]) || (a.run_id < b.run_id ? -1 : 1);
  return {
    active: runs.filter((run) => !isEnded(run)).sort(by("started_at")),
    ended: runs.filter(isEnded).sort(by("ended_at")),
  };
}

// What may be asked of a run now.
export function commandsFor(run) {
  if (isEnded(run)) return [];
  const isPaused = run.status === "paused" || run.status === "pausing";
  return [isPaused ? "resume" : "pause", "escalate", "cancel"];
}

// What is known of a frame beside its name and number, a word each.
export function frameFacts(level) {
  const { frame } = level;
  return [
    level.is_escalated ? `${frame.model}, escalated` : frame.model,
    frame.escalation_reason && `because ${frame.escalation_reason}`,
    frame.issue_id && frame.filter && `filter ${frame.filter}`, // without an issue it is the frame's name
    frame.branch && `branch ${frame.branch}`,
    frame.base_ref && `from ${frame.base_ref}`,
    frame.worktree_path && `worktree ${frame.worktree_path}`,
    frame.prompt_file && `prompt ${frame.prompt_file}`,
    level.attempt > 1 && `attempt ${level.attempt}`,
  ].filter(Boolean);
}
