// The talk between a person and a run, as the topic loop:control has it: REQUEST, ACK, RESULT. Pure.

export const CONTROL_TOPIC = "loop:control";
export const SHOWN_REQUESTS = 20; // the last ones of a run; the whole talk is in its timeline

// A UUID v4, which the strictest server wants. `crypto.randomUUID` is not there on a plain http address.
export function newRequestId(bytes = crypto.getRandomValues(new Uint8Array(16))) {
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// A message of the topic, and an event of the log, as one and the same thing; null for what is neither.
export const ofMessage = ({ sequence, posted_at: at, by, body }) => line(sequence, at, by, body);

export function ofEvent({ sequence, type, at, data }) {
  if (type === "control.expired") return { sequence, at, by: "", type: "EXPIRED", requestId: data.request_id };
  return type.startsWith("control.") && data?.message ? line(sequence, at, data.by, data.message) : null;
}

// What stands in the topic may be anything: a post that nobody could execute is there, too.
function line(sequence, at, by, body) {
  if (body === null || typeof body !== "object" || typeof body.request_id !== "string") return null;
  return {
    sequence,
    at,
    by: by ?? "",
    type: String(body.type),
    requestId: body.request_id,
    runId: body.target?.run_id,
    command: String(body.command ?? ""),
    payload: body.payload ?? {},
  };
}

// Adds lines to those that are known, each once, in the order of the log.
export function merge(known, fresh) {
  const all = new Map(known.map((each) => [each.sequence, each]));
  for (const each of fresh) if (each) all.set(each.sequence, each);
  return [...all.values()].sort((a, b) => a.sequence - b.sequence);
}

// The talk of one run: a REQUEST with what came of it, newest first. A repeated REQUEST begins anew.
export function talks(lines, runId) {
  const found = [];
  const current = new Map();
  for (const each of lines) {
    if (each.type === "REQUEST" && each.runId === runId) {
      const talk = { key: each.sequence, request: each, replies: [] };
      found.push(talk);
      current.set(each.requestId, talk);
    } else if (each.type !== "REQUEST") current.get(each.requestId)?.replies.push(each);
  }
  return found.reverse();
}

export const after = (first, then) => `+${Math.max(0, Date.parse(then) - Date.parse(first))} ms`;

export const isOver = (talk) => talk.replies.some(({ type }) => type === "RESULT" || type === "EXPIRED");

// What a line says, as [words, code, more]: the code stands between them in its own type.
export function wordsOf(each) {
  const { payload = {} } = each;
  if (each.type === "ACK") return { words: "received" };
  if (each.type === "EXPIRED") return { words: "nobody took it up within 30 s; it is never executed" };
  if (each.type === "RESULT") {
    if (payload.status === "success") return { words: `success: ${payload.message ?? "done"}` };
    return { words: "failure", code: String(payload.code ?? "unknown"), more: String(payload.message ?? "") };
  }
  const model = payload.model ? ` to ${payload.model}` : "";
  const reason = payload.reason ? ` because ${payload.reason}` : "";
  return { words: `${each.command}${model}${reason}` };
}
