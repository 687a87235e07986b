// Requests to the server that this page came from. A reply is its JSON; anything else is an ApiError with a code and one
// sentence, so that no caller has to look at a status.

import { parse } from "/page/json.js";
import { NobodyError, StrangerError, doubt, send } from "/page/session.js";
import { setServerTime } from "/page/store.js";

const PATIENCE_MS = 20_000; // a server that takes longer is as good as away; what was sent is known again by its key

export class ApiError extends Error {
  constructor(message, { status = 0, code = "unreachable", details = {} } = {}) {
    super(message);
    Object.assign(this, { status, code, details });
  }

  get isOffline() {
    return this.status === 0 || this.status === 502 || this.status === 503;
  }

  get isSignedOut() {
    return this.status === 401;
  }

  // Somebody answers, and it is not the server at which this person signed in.
  get isStranger() {
    return this.code === "stranger";
  }
}

export const projectPath = (project, ...parts) =>
  ["/projects", project, ...parts].map((part, at) => (at ? encodeURIComponent(part) : part)).join("/");

// A key by which the server knows a request again whose reply was lost.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function request(method, path, { query, body, key } = {}) {
  const words = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const address = words.length ? `${path}?${new URLSearchParams(words)}` : path;
  const headers = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key) headers["idempotency-key"] = key;
  const sent = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
  try {
    return await attempt(address, sent);
  } catch (error) {
    if (error.code !== "unproven") throw error;
    doubt(); // the server began anew, and did nothing
    return attempt(address, sent);
  }
}

async function attempt(address, sent) {
  let reply;
  try {
    reply = await send(address, { ...sent, signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    if (error instanceof NobodyError) throw new ApiError("Nobody is signed in here.", { status: 401, code: "unauthorised" });
    if (error instanceof StrangerError) throw new ApiError("Another server answers here.", { code: "stranger" });
    throw new ApiError("The server does not answer.");
  }
  if (reply.now) setServerTime(reply.now); // what is left of a deadline is left by that clock
  let told;
  try {
    told = reply.text ? parse(reply.text) : null;
  } catch {
    throw new ApiError("The server said something that cannot be read.", { status: reply.status });
  }
  if (reply.ok) return told;
  const { code, message, details } = told?.error ?? {};
  // A browser sent it twice, as browsers do over a line that broke: what came of the first one is not known.
  if (code === "replayed") throw new ApiError("The server does not answer.");
  throw new ApiError(message ?? `The server refused it (${reply.status}).`, {
    status: reply.status,
    code,
    details,
  });
}

export const get = (path, query) => request("GET", path, { query });
