// What this page knows, in one value that is never changed in place: whoever looks at a part of it is drawn again when
// that part is another one.

import { useLayoutEffect, useRef, useState } from "/page/html.js";

let state = {
  who: undefined, // undefined until it is known, null for a stranger
  projects: [],
  asks: new Map(), // by id: the open ones, and those that ended while this page was open
  runs: new Map(), // by runKey
  fates: new Map(), // by ask id: what became of the answer that was sent from here
  presence: [],
  link: { isOnline: true, isStranger: false, since: null, nextTry: null },
  isLoaded: false,
};
const listeners = new Set();

export const getState = () => state;
export const runKey = (run) => `${run.project}/${run.run_id}`;

export function change(patch) {
  state = { ...state, ...(typeof patch === "function" ? patch(state) : patch) };
  for (const listener of [...listeners]) listener();
}

export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useStore(select) {
  const [, redraw] = useState(0);
  const seen = useRef();
  seen.current = { select, value: select(state) };
  useLayoutEffect(
    () =>
      subscribe(() => {
        if (!Object.is(seen.current.select(state), seen.current.value)) redraw((times) => times + 1);
      }),
    [],
  );
  return seen.current.value;
}

// So many that have ended stay in mind, the last ones: a page is open for days.
const MOST_ENDED = 200;

function forgetEnded(asks) {
  const ended = [...asks.values()].filter((ask) => ask.state !== "open");
  if (ended.length <= MOST_ENDED) return;
  const endOf = (ask) => Date.parse((ask.answer ?? ask.outcome ?? {}).at ?? ask.opened_at);
  ended.sort((a, b) => endOf(b) - endOf(a));
  for (const ask of ended.slice(MOST_ENDED)) asks.delete(ask.ask_id);
}

// An ask is taken in unless something newer is known of it: replies and events overtake each other. Of two tellings under
// the same number the later one counts, as a claim has no number.
export function takeAsks(asks) {
  change(({ asks: known }) => {
    const next = new Map(known);
    for (const ask of asks) {
      const before = next.get(ask.ask_id);
      if (before === undefined ? ask.state === "open" : before.sequence <= ask.sequence) {
        next.set(ask.ask_id, ask);
      }
    }
    forgetEnded(next);
    return { asks: next };
  });
}

export function takeRuns(runs) {
  change(({ runs: known }) => {
    const next = new Map(known);
    for (const run of runs) {
      const before = next.get(runKey(run));
      if (!before || before.sequence <= run.sequence) next.set(runKey(run), run);
    }
    return { runs: next };
  });
}

export function setFate(askId, fate) {
  change(({ fates }) => ({ fates: new Map(fates).set(askId, fate) }));
}

// The time, for whatever is drawn with an age. A list of ages needs no new drawing every second.
let offset = 0; // of the server's clock, by which deadlines run

export function setServerTime(iso) {
  offset = Date.parse(iso) - Date.now();
}

export const serverNow = () => Date.now() + offset;

export function useNow(everyMs = 1_000) {
  const [now, setNow] = useState(serverNow());
  useLayoutEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
