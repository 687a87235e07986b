// What happens, as it happens: one socket for each project, each with the number of the last event that it brought.
//
// Rule 1: a project's number is asked for before its asks are listed, so nothing can happen between the two unseen.
// Rule 2: after a cut a socket is opened behind its last number: no gap, and no event twice.
// Rule 3: an event says that something is new; what is true is then asked for. So an event that comes late, or that this
//         page does not understand, never makes it show what is not so.
// Rule 4: while the server does not answer, or another one does, the page says so, and tries again by itself.

import { get, projectPath } from "/page/api.js";
import { parse } from "/page/json.js";
import { doubt, openSocket } from "/page/session.js";
import { change, getState, takeAsks, takeRuns } from "/page/store.js";

const FIRST_TRY_MS = 300;
const LAST_TRY_MS = 8_000;
const LOOK_MS = 3_000; // for projects that are new
const TICK_MS = 1_000;
const SLEPT_MS = 10_000; // a tick that is so late slept, and its sockets may be dead without knowing it
const MANY = 8; // so many asks of a project are asked for one by one; more of them as a list
const REVOKED = 4401;
const RUNS_SHOWN = 300;
const ONLINE = { isOnline: true, isStranger: false, since: null, nextTry: null };

const lines = new Map(); // by project
const hearers = new Set();
let tries = 0;
let retryTimer = 0;

export function onEvent(hear) {
  hearers.add(hear);
  return () => hearers.delete(hear);
}

// One project

class Line {
  constructor(project, cursor) {
    Object.assign(this, { project, cursor, socket: null, asks: new Set(), runs: new Set() });
    Object.assign(this, { isAsking: false, isListed: false });
  }

  async open() {
    this.close();
    const place = (this.socket = { close() {} }); // until there is one
    let socket;
    try {
      socket = await openSocket(`${projectPath(this.project, "events")}?after=${this.cursor}`);
    } catch {
      if (this.socket === place) lose();
      return;
    }
    if (this.socket !== place) return void socket.close(); // we closed it ourselves
    this.socket = socket;
    socket.onmessage = ({ data }) => this.hear(parse(data));
    socket.onclose = ({ code }) => {
      if (this.socket !== socket) return; // as above
      this.socket = null;
      if (code === REVOKED) change({ who: null });
      else lose();
    };
  }

  close() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  hear(event) {
    if (event.sequence <= this.cursor) return;
    this.cursor = event.sequence;
    const { type, data } = event;
    if (type === "ask.opened" && data) takeAsks([openedAsk(this.project, event)]);
    if (type.startsWith("ask.") && data?.ask_id) this.asks.add(data.ask_id);
    if (type.startsWith("run.") && data?.run_id) this.runs.add(data.run_id);
    for (const hearer of hearers) hearer({ ...event, project: this.project });
    this.ask();
  }

  // Asks for what is new. What is heard meanwhile is asked for afterwards, together.
  async ask() {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      while (this.asks.size || this.runs.size) {
        const [asks, runs] = [[...this.asks], [...this.runs]];
        this.asks.clear();
        this.runs.clear();
        try {
          await Promise.all([this.fetchAsks(asks), this.fetchRuns(runs)]);
        } catch (error) {
          for (const ask of asks) this.asks.add(ask);
          for (const run of runs) this.runs.add(run);
          if (error.isSignedOut) change({ who: null });
          else if (error.isOffline) lose(error);
          return; // it is asked for again with the next event, or when we are back
        }
      }
    } finally {
      this.isAsking = false;
    }
  }

  async fetchAsks(ids) {
    if (ids.length > MANY) {
      const { asks } = await listAsks(projectPath(this.project, "asks"));
      takeAsks(asks);
      const open = new Set(asks.map((ask) => ask.ask_id));
      ids = ids.filter((id) => !open.has(id) && getState().asks.has(id));
    }
    const found = await Promise.all(ids.map((id) => orNothing(get(projectPath(this.project, "asks", id)))));
    takeAsks(found.filter(Boolean));
  }

  async fetchRuns(ids) {
    const found = await Promise.all(ids.map((id) => orNothing(get(projectPath(this.project, "runs", id)))));
    takeRuns(found.filter(Boolean));
  }
}

// All that wait: a reply ends early where asks are large, and says behind which one to come again.
async function listAsks(path) {
  const found = [];
  let before = null;
  do {
    const { asks, next } = await get(path, { before });
    found.push(...asks);
    before = next;
  } while (before);
  return { asks: found };
}

// What is not there (any more) is nothing to show; all other failures are the caller's.
async function orNothing(reply) {
  try {
    return await reply;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

// An ask as its first event tells it, so that it is drawn at once; the whole of it follows.
function openedAsk(project, { sequence, at, data }) {
  const { at: opened, replaces, ...told } = data;
  return { digest: "", answer: null, outcome: null, claim: null, ...told, project, sequence,
    state: "open", opened_at: opened ?? at };
}

// All of them

async function join(projects) {
  const fresh = projects.filter((project) => !lines.has(project));
  // A project of which nothing is told must not hide the others.
  const heads = await Promise.all(fresh.map((project) => orNothing(get(projectPath(project, "log", "head")))));
  fresh.forEach((project, at) => heads[at] && lines.set(project, new Line(project, heads[at].sequence)));
}

async function list(projects) {
  const runs = { active: false, limit: RUNS_SHOWN };
  const isAll = projects.length === lines.size;
  const told = await Promise.all(
    isAll
      ? [listAsks("/asks"), get("/runs", runs)]
      : projects.flatMap((project) => [listAsks(projectPath(project, "asks")), get(projectPath(project, "runs"), runs)]),
  );
  takeAsks(told.flatMap((each) => each.asks ?? []));
  takeRuns(told.flatMap((each) => each.runs ?? []));
}

async function look() {
  // Whoever is gone closes its sockets. Where there is none, nothing tells: the next one to answer may be another.
  if (![...lines.values()].some((line) => line.socket)) doubt();
  const [who, { projects }] = await Promise.all([get("/whoami"), get("/projects")]);
  const before = getState().who;
  // Another window has signed in somebody else: what this one has in mind is not for their eyes.
  if (before && before.name !== who.name) return void location.replace("/");
  if (before?.name !== who.name) change({ who });
  if (projects.join("\n") !== getState().projects.join("\n")) change({ projects });
  await join(projects);
  // Also those whose list did not come the last time: what waited before is told by no event.
  const unlisted = [...lines.values()].filter((line) => !line.isListed);
  if (unlisted.length) await list(unlisted.map((line) => line.project));
  for (const line of unlisted) line.isListed = true;
  for (const line of lines.values()) {
    if (!line.socket) line.open();
    line.ask();
  }
}

// Brings everything up to date, or says that it cannot. One at a time: two would each open a line for a project that is
// new, and all that happens there would be heard twice.
let connecting = null;

export function connect() {
  connecting ??= bringUpToDate().finally(() => (connecting = null));
  return connecting;
}

async function bringUpToDate() {
  clearTimeout(retryTimer);
  try {
    await look();
    tries = 0;
    if (!getState().link.isOnline) change({ link: ONLINE });
    if (!getState().isLoaded) change({ isLoaded: true });
  } catch (error) {
    if (error.isSignedOut) change({ who: null });
    else lose(error);
  }
}

// Says that we are cut off, and when the next try is.
function lose(error) {
  clearTimeout(retryTimer);
  doubt();
  for (const line of lines.values()) line.close();
  const wait = Math.min(LAST_TRY_MS, FIRST_TRY_MS * 2 ** tries) * (0.75 + Math.random() / 2);
  tries += 1;
  const { link } = getState();
  const isStranger = Boolean(error?.isStranger);
  change({ link: { isOnline: false, isStranger, since: link.since ?? Date.now(), nextTry: Date.now() + wait } });
  retryTimer = setTimeout(connect, wait);
}

export function start() {
  let [last, looked] = [Date.now(), Date.now()];
  setInterval(() => {
    const now = Date.now();
    const slept = now - last > SLEPT_MS;
    last = now;
    if (!getState().link.isOnline || getState().who === null) return;
    if (slept) {
      doubt();
      for (const line of lines.values()) line.close();
      connect();
    } else if (now - looked > LOOK_MS && document.visibilityState === "visible") {
      looked = now;
      connect();
    }
  }, TICK_MS);
  addEventListener("online", connect);
  addEventListener("offline", () => lose());
  return connect();
}
