// The tail of a run's output: put together from what the server tells, and cut into what can be drawn. Pure.

import { pieces } from "/page/text.js";

export const KEPT_CHARACTERS = 65_536;
export const MOST_PIECES = 3_000; // an output of nothing but marks must not stop the page

export const EMPTY = { text: "", from: 0, written: 0, at: null };

// The tail once `reply` has come. What was told follows on what is known, unless something between the two is lost, or
// the server no longer has what it once had.
export function grow(known, reply) {
  const isNext = reply.from === known.written && reply.written >= known.written;
  if (isNext && reply.text === "") return known.at === reply.at ? known : { ...known, at: reply.at };
  const joined = isNext ? known.text + reply.text : reply.text;
  const text = joined.slice(cutAt(joined));
  const from = isNext && text === joined ? known.from : reply.written - byteLength(text);
  return { text, from, written: reply.written, at: reply.at };
}

// Where the part begins that is kept: at a line's beginning if one is near, and never inside of a character.
function cutAt(text) {
  if (text.length <= KEPT_CHARACTERS) return 0;
  const at = text.length - KEPT_CHARACTERS;
  const line = text.indexOf("\n", at);
  if (line !== -1 && line - at < 2_000) return line + 1;
  return isLow(text.charCodeAt(at)) ? at + 1 : at;
}

const isLow = (unit) => unit >= 0xdc00 && unit <= 0xdfff;
const byteLength = (text) => new TextEncoder().encode(text).length;

// A sequence that a terminal would obey is one mark, with all that it is made of; the agent's words around it stay.
const SEQUENCE = /(\x1b\[[0-?]{0,30}[ -/]{0,4}[@-~])/;

// What is drawn: strings, and { mark, count } for what a terminal would have done or a reader not seen.
export function outputPieces(text) {
  const found = [];
  const add = (piece) => {
    const last = found.at(-1);
    if (typeof piece === "string" && typeof last === "string") found[found.length - 1] += piece;
    else if (typeof piece !== "string" && last?.mark === piece.mark) last.count += 1;
    else found.push(typeof piece === "string" ? piece : { mark: piece.mark, count: 1 });
  };
  for (const [at, part] of text.replaceAll("\r\n", "\n").split(SEQUENCE).entries()) {
    if (at % 2) add({ mark: `ESC${part.slice(1)}` });
    else for (const piece of pieces(part, { lines: true })) if (piece !== "") add(piece);
  }
  if (found.length <= MOST_PIECES) return found;
  return [{ mark: "… more before this is not drawn", count: 1 }, ...found.slice(-MOST_PIECES)];
}

// How much of it is shown, in words.
export function howMuch({ from, written }) {
  if (!written) return "nothing was handed on yet";
  const count = written.toLocaleString("en-GB");
  return from > 0 ? `the end of ${count} bytes` : `all ${count} bytes`;
}
