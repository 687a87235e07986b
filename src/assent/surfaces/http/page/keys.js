// Keys of the page. Whatever is drawn says which keys it takes while it is there; the last one that was drawn is asked
// first. Nothing is taken from somebody who types, nor with Ctrl, Alt or the like, and nothing before the beat is over:
// a keystroke that was meant for elsewhere decides nothing.

import { useEffect, useRef, useState } from "/page/html.js";

export const BEAT_MS = 400;

const takers = [];

// `keys` maps the name of a key to what it does; a function that returns true (or has nothing to say) has taken it.
// `any` gets whatever none of them names.
export function onKey(keys) {
  takers.push(keys);
  return () => takers.splice(takers.indexOf(keys), 1);
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

// Letters in either case: Shift+C is C with its shift.
function nameOf(event) {
  if (event.key.length === 1 && event.shiftKey && /[a-z]/i.test(event.key)) return `Shift+${event.key.toUpperCase()}`;
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

function hear(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (isTyping(event.target) && !isSend) {
    if (event.key === "Escape") event.target.blur();
    // Held down, Enter would also send the form that it has just opened.
    if (event.repeat && event.key === "Enter" && !event.target.matches("textarea")) event.preventDefault();
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
  for (const taker of takers.toReversed()) {
    const take = taker[name] ?? taker.any;
    if (take && take(event, name) !== false) {
      event.preventDefault();
      return;
    }
  }
}

export function listen() {
  addEventListener("keydown", hear);
}

// Whether keys count yet: a beat after what is shown has become another, or after the window has come to the front.
export function useBeat(shown) {
  const [armed, setArmed] = useState(null);
  const timer = useRef(0);
  useEffect(() => {
    const arm = () => {
      clearTimeout(timer.current);
      setArmed(null);
      timer.current = setTimeout(() => setArmed(shown), BEAT_MS);
    };
    arm();
    addEventListener("focus", arm);
    return () => {
      clearTimeout(timer.current);
      removeEventListener("focus", arm);
    };
  }, [shown]);
  return armed === shown;
}
