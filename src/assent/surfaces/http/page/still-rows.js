// Keeps the selected row where it is on the screen, whatever is drawn above it. Looked at after every drawing, and when rows
// have got another height since: those out of sight have a guessed one until they are looked at. Not before everything is
// there: rows that come with the page itself were never somewhere else.

import { useLayoutEffect, useRef } from "/page/html.js";
import { useStore } from "/page/store.js";

// A list that is too short to be scrolled gets the room for it below, until another row is selected.
function makeRoom(list, wanted) {
  const inner = list.firstElementChild;
  const lacking = wanted - (list.scrollHeight - list.clientHeight);
  if (lacking > 0) inner.style.paddingBottom = `${(parseFloat(inner.style.paddingBottom) || 0) + lacking}px`;
}

export function useStillRows(rows, currentId, isOpen) {
  const place = useRef({ id: null, at: 0, rest: 0 });
  const isLoaded = useStore((state) => state.isLoaded);
  const keepStill = (isDrawn) => {
    const list = rows.current;
    const row = isLoaded && currentId && list?.querySelector(`[data-ask="${CSS.escape(currentId)}"]`);
    if (!row) return void (place.current = { id: null, at: 0, rest: 0 });
    // Without what is scrolled: that is the reader's own doing.
    const find = () => row.getBoundingClientRect().top + list.scrollTop;
    if (place.current.id !== currentId || place.current.isOpen !== isOpen) {
      list.firstElementChild.style.paddingBottom = "";
      // What has ended goes to its place among those that have: the list is for what still waits.
      if (place.current.id !== currentId) row.scrollIntoView({ block: "nearest" });
      place.current = { id: currentId, isOpen, at: find(), rest: 0 };
      return;
    }
    const [at, scrolled] = [find(), list.scrollTop];
    const moved = at - place.current.at + place.current.rest;
    if (moved) {
      // Where nothing was ever moved, rows that are measured for the first time are no reason to hide what is above them.
      const isMoved = scrolled > 0 || list.firstElementChild.style.paddingBottom;
      if (isDrawn || isMoved) makeRoom(list, scrolled + moved);
      list.scrollTop = scrolled + moved;
    }
    // A list scrolls by whole pixels: the fraction is kept, or many asks would move it after all.
    const rest = moved - (list.scrollTop - scrolled);
    place.current = { id: currentId, isOpen, at, rest: Math.abs(rest) < 1 ? rest : 0 };
  };
  const latest = useRef(keepStill);
  latest.current = keepStill;
  useLayoutEffect(() => keepStill(true));
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => latest.current(false));
    watch.observe(rows.current.firstElementChild);
    return () => watch.disconnect();
  }, []);
}
