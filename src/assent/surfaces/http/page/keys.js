// Keys of the page. Whatever is drawn says which keys it takes while it is there; the innermost is asked
// first. This file alone decides whether a key may act at all:
//
// Rule 1: nothing is taken from somebody who types, nor with Ctrl, Alt or the like.
// Rule 2: what marks or sends waits for the beat: 0.4 s after it was drawn, after the window came to the front, and after
//         the last key that was not typed into a field, whichever is latest. A letter that marks nothing here, whatever else
//         it does, may be part of a word, and the beat begins anew.
// Rule 3: where the field that somebody typed in has gone, for whatever reason, a reload too, no key acts: what they type
//         on are words. A press of the pointer ends it, or Esc and then a second without keys.
// Rule 4: when a key was pressed counts, not when a busy page came to look at it.
// Rule 5: in a field of an ask or of a run Enter ends a line of words. Ctrl+Enter sends. Only the line for a gate's commands,
//         which no key of the page leads to, is sent by Enter.

import { useEffect, useLayoutEffect, useRef, useState } from "/page/html.js";

export const BEAT_MS = 400;
export const QUIET_MS = 1_000;

const takers = [];

// `keys` maps the name of a key to what it does; a function that returns true (or has nothing to say) has taken it.
// `any` gets whatever none of them names. With a `beat` they are taken, and do nothing, until it is over. Null takes none.
// At once with the drawing, every time: a key that follows on another's heels must find what that one changed. What is
// inside of something, or came later, is asked first, however often either is drawn anew.
let places = 0;

export function useKeys(keys, beat = null) {
  const place = useRef(0);
  place.current ||= places += 1;
  useLayoutEffect(() => {
    if (!keys) return undefined;
    const taker = { keys, beat, place: place.current };
    takers.push(taker);
    takers.sort((a, b) => a.place - b.place);
    return () => takers.splice(takers.indexOf(taker), 1);
  });
}

// The next key goes to `take` before anybody else, whatever is drawn meanwhile; it is given back after a while.
let awaited = null;

export function takeNext(take, ms = 1_500) {
  const waiting = { take };
  awaited = waiting;
  setTimeout(() => (awaited = awaited === waiting ? null : awaited), ms);
}

const TYPED = "textarea, select, input:not([type=radio]):not([type=checkbox])";
const isTyping = (target) => target instanceof Element && target.matches(TYPED);
const WORDS = "form.ask input:not(#gate-command), form.steer-form input";
const isThere = (field) => field.isConnected && !field.disabled && field.checkVisibility();

// Rest, for rule 3

const RESTED = "assent-typed"; // of this tab, over a reload
let field = null; // what is typed in, or was last
let isResting = false;
let isEscaped = false; // Esc was pressed, so that a quiet second is enough
let quiet = 0;
let wokeAt = 0;
const watchers = new Set();

function setRest(resting, escaped) {
  const isOther = isResting !== resting || isEscaped !== escaped;
  [isResting, isEscaped] = [resting, escaped];
  clearTimeout(quiet);
  quiet = escaped ? setTimeout(() => wake(performance.now()), QUIET_MS) : 0;
  if (isOther) for (const watcher of [...watchers]) watcher();
}

function wake(at = 0) {
  field = null;
  wokeAt = at;
  setRest(false, false);
}

// Whether this key finds the keys at rest; each is told of once.
function rests(event) {
  const isLost = field !== null && !isThere(field);
  if (isResting || isLost || event.timeStamp < wokeAt) {
    if (event.timeStamp < wokeAt) isEscaped = true; // pressed in the second that was to be quiet
    setRest(true, isEscaped || event.key === "Escape");
    return true;
  }
  if (isTyping(event.target)) {
    field = event.target;
    setRest(false, event.key === "Escape");
  } else if (field) {
    field = null; // it is still there, and was left
    setRest(false, false);
  }
  return false;
}

// "" while keys act; otherwise how they are woken: "escape", or "quiet" once Esc was pressed.
export function useRest() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const watcher = () => redraw((times) => times + 1);
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, []);
  return isResting ? (isEscaped ? "quiet" : "escape") : "";
}

function keepRest() {
  try {
    if (isResting || isTyping(document.activeElement)) sessionStorage.setItem(RESTED, "yes");
  } catch {
    // a window that keeps nothing: the beat is all there is
  }
}

function readRest() {
  try {
    if (sessionStorage.getItem(RESTED)) setRest(true, false);
    sessionStorage.removeItem(RESTED);
  } catch {
    // nothing was kept
  }
}

// Calls `act` as soon as nobody types in a field inside `root`: at once, or when it is left and the press that did so is over.
export function whenLeft(root, act) {
  const isIn = () => root?.contains(document.activeElement) && isTyping(document.activeElement);
  if (!isIn()) {
    act();
    return undefined;
  }
  let isPressed = false;
  const stopping = new AbortController();
  const look = () =>
    setTimeout(() => {
      if (isPressed || isIn() || stopping.signal.aborted) return;
      stopping.abort();
      act();
    });
  const on = (name, hear) => addEventListener(name, hear, { capture: true, signal: stopping.signal });
  on("pointerdown", () => (isPressed = true));
  for (const name of ["pointerup", "pointercancel", "focusout"]) {
    on(name, () => {
      if (name !== "focusout") isPressed = false;
      look();
    });
  }
  return () => stopping.abort();
}

// Hearing

// Letters in either case: Shift+C is C with its shift.
function nameOf(event) {
  if (event.key.length === 1 && event.shiftKey && /[a-z]/i.test(event.key)) return `Shift+${event.key.toUpperCase()}`;
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

const OWN = "a, button, summary, input, select"; // what has keys of its own, by the browser
const LEFT = new Set(["Tab", "Escape", "Shift", "Control", "Alt", "Meta"]);

// At rest words can be typed into a field, and nothing is pressed, marked or sent.
function keepStill(event) {
  const isShortcut = (event.ctrlKey || event.metaKey || event.altKey) && event.key !== "Enter";
  const isWord = isTyping(event.target) && (event.key !== "Enter" || event.target.matches("textarea"));
  if (isTyping(event.target) && event.key === "Escape") event.target.blur();
  if (!LEFT.has(event.key) && !isShortcut && !isWord && event.target.closest?.(OWN)) event.preventDefault();
}

const beats = new Set();

function hear(event) {
  const isRest = rests(event);
  const isLeft = isTyping(event.target) && event.key === "Escape"; // with its words behind it
  for (const beat of beats) if (isLeft || (beat.isRunningAt(event) && (isRest || !isTyping(event.target)))) beat.begin();
  if (isRest) return keepStill(event);
  if (event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (isTyping(event.target) && !isSend) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "Enter" && event.target.matches(WORDS)) event.preventDefault();
    return;
  }
  if ((event.ctrlKey || event.metaKey || event.altKey) && !isSend) return;
  const name = isSend ? "Ctrl+Enter" : nameOf(event);
  // A key that is held down sends once, and not also whatever is drawn next.
  if (event.repeat && (isSend || name === "Enter")) return void event.preventDefault();
  // Where a button or a link has the focus, Enter and the space bar are its own.
  if ((name === "Enter" || name === " ") && event.target.closest?.("a, button, summary")) return;
  const waiting = awaited;
  awaited = null;
  if (waiting?.take(name)) return void event.preventDefault();
  let wasEarly = false;
  for (const { keys, beat } of takers.toReversed()) {
    const isNamed = Object.hasOwn(keys, name);
    if (!isNamed && !keys.any) continue;
    const isEarly = beat && !beat.isOverFor(event);
    wasEarly ||= isEarly;
    if (isEarly ? isNamed : (keys[name] ?? keys.any)(event, name) !== false) {
      event.preventDefault();
      if (beat) return;
      break; // it did something else than mark or send
    }
  }
  if (event.key.length === 1 && !wasEarly) for (const beat of beats) beat.begin();
}

export function listen() {
  readRest();
  addEventListener("keydown", hear);
  addEventListener("pointerdown", () => wake(), { capture: true });
  addEventListener("focusin", ({ target }) => !isResting && isTyping(target) && (field = target));
  addEventListener("pagehide", keepRest);
  addEventListener("pageshow", (event) => event.persisted && readRest());
}

// Whether what is shown takes keys and presses yet (rule 2): `isOver` for drawing and for the pointer, `isOverFor` for a key.
export function useBeat(shown) {
  const [over, setOver] = useState(null); // what is shown, and since when it takes keys
  useEffect(() => {
    let timer = 0;
    let overAt = Infinity;
    const beat = {
      isRunningAt: (event) => event.timeStamp < overAt,
      begin() {
        clearTimeout(timer);
        overAt = Infinity;
        setOver(null);
        timer = setTimeout(() => {
          overAt = performance.now();
          setOver({ shown, at: overAt });
        }, BEAT_MS);
      },
    };
    beats.add(beat);
    beat.begin();
    addEventListener("focus", beat.begin);
    return () => {
      clearTimeout(timer);
      beats.delete(beat);
      removeEventListener("focus", beat.begin);
    };
  }, [shown]);
  const isOver = over !== null && over.shown === shown;
  return { isOver, isOverFor: (event) => isOver && event.timeStamp >= over.at };
}
