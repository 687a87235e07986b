// What this page signs its requests with, and whom it sends them to.
//
// Rule 1: the key comes once, with the reply to whoever signs in, and is kept so that no script can read it: not this one
//         either. The name of the session stands beside it and is no secret.
// Rule 2: before anything else is sent, and again after every loss of the connection, the server proves that it has the
//         same key. Whoever cannot gets nothing but the question.
// Rule 3: every request has the next number of this tab. What was sent once is good for nothing more.

const NAME = "assent-session"; // in localStorage, where every tab sees at once that another one signed in
const KEYS = "keys";
const HMAC = { name: "HMAC", hash: "SHA-256" };
const PATIENCE_MS = 20_000;
const AWAY = [429, 502, 503, 504]; // from whatever stands before a server that is not there just now
const TAB = random(16);

// Plain HTTP from another machine: there a browser gives pages no keys.
export const canSign = Boolean(globalThis.crypto?.subtle);

export class NobodyError extends Error {}
export class StrangerError extends Error {}

let known = null; // the session that is in use, with the proof that is awaited for it
let count = 0;

function toHex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function random(size) {
  return toHex(crypto.getRandomValues(new Uint8Array(size)));
}

const lines = (...parts) => new TextEncoder().encode(parts.join("\n"));

// What is kept

function withKeys(mode, work) {
  return new Promise((done, fail) => {
    const opening = indexedDB.open("assent", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(KEYS);
    opening.onerror = () => fail(opening.error);
    opening.onsuccess = () => {
      const base = opening.result;
      const deed = base.transaction(KEYS, mode);
      const asked = work(deed.objectStore(KEYS));
      deed.oncomplete = () => done(asked.result);
      deed.onabort = () => fail(deed.error);
      base.close(); // once that is done
    };
  });
}

export async function keep({ session, key }) {
  const own = await crypto.subtle.importKey("raw", fromHex(key), HMAC, false, ["sign", "verify"]);
  await withKeys("readwrite", (keys) => keys.clear());
  await withKeys("readwrite", (keys) => keys.put(own, session));
  localStorage.setItem(NAME, session);
}

export async function forget() {
  localStorage.removeItem(NAME);
  await withKeys("readwrite", (keys) => keys.clear());
}

function nameOfSession() {
  try {
    return canSign && localStorage.getItem(NAME);
  } catch {
    return null; // this browser keeps nothing
  }
}

// Whom it is sent to

async function haveProved(name) {
  const key = await withKeys("readonly", (keys) => keys.get(name)).catch(() => null);
  if (!key) throw new NobodyError();
  const [nonce, { origin }] = [random(32), location];
  const reply = await fetch("/proof", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ session: name, nonce, origin }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (AWAY.includes(reply.status)) throw new Error("away");
  const { boot, proof } = readObject(await reply.text());
  const isOurs = await crypto.subtle.verify(HMAC, key, fromHex(`${proof}`), lines("assent proof", nonce, origin, boot));
  if (!isOurs) throw new StrangerError();
  return { name, key, boot };
}

function readObject(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function recognise() {
  const name = nameOfSession();
  if (!name) throw new NobodyError();
  if (known?.name !== name) {
    const fresh = { name, made: haveProved(name) };
    fresh.made.catch(() => doubt(fresh));
    known = fresh;
  }
  return known;
}

// Has the server prove itself anew before the next request.
export function doubt(which = known) {
  if (known === which) known = null;
}

async function sign({ name, key, boot }, method, address, body) {
  const number = (count += 1);
  const digest = toHex(await crypto.subtle.digest("SHA-256", lines(body)));
  const told = [method, address.pathname + address.search, digest, location.origin, boot, TAB, number];
  const mac = await crypto.subtle.sign(HMAC, key, lines("assent request", ...told));
  return [name, boot, TAB, number, digest, toHex(mac)].join(".");
}

export async function send(path, { headers = {}, method = "GET", body, ...options } = {}) {
  const server = recognise();
  const own = await server.made;
  const address = new URL(path, location.href);
  const shown = await sign(own, method, address, body ?? "");
  try {
    const reply = await fetch(address, { ...options, method, body, headers: { ...headers, "assent-session": shown } });
    if (AWAY.includes(reply.status)) doubt(server);
    return { ok: reply.ok, status: reply.status, now: reply.headers.get("assent-now"), text: await reply.text() };
  } catch (error) {
    doubt(server); // whoever answers next may be somebody else
    throw error;
  }
}

// A page can set no header on a socket, so the signature is offered as a subprotocol; the server never chooses it.
export async function openSocket(path) {
  const server = recognise();
  const own = await server.made;
  const address = new URL(path, location.href);
  const shown = await sign(own, "WEBSOCKET", address, "");
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address, ["assent", `signed.${shown}`]);
  socket.addEventListener("close", () => doubt(server));
  return socket;
}
