// Text that somebody else wrote, made safe to look at: what a reader could not see, or what would reorder the line that it
// stands in, becomes a mark. The same characters as in the terminal: protocol/display.py has the rules and their reasons.

import { html } from "/page/html.js";

const FILLERS =
  "\\u034f\\u115f\\u1160\\u3164\\uffa0\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\ufffc\\u{16fe4}\\u{1d159}" +
  "\\u{13441}\\u{13442}\\ufe00-\\ufe0f\\u{e0000}-\\u{e0fff}";
const HIDDEN = `[\\p{C}\\p{Zl}\\p{Zp}${FILLERS}]`;
const STACKED = "[\\p{Mn}\\p{Me}]";
// Too many marks on one base would paint over the lines around; marks without a base would sit on a sign of ours.
const PIECES = new RegExp(`((?<=${STACKED}{8})${STACKED}|(?<![^\\n])${STACKED}|${HIDDEN})`, "u");
const PLAIN = /^[\x20-\x7e\n\t]*$/;

const nameOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
const isLine = (piece) => piece === "\n" || piece === "\t";

// Returns strings, and { mark } for what is hidden.
export function pieces(text, { lines = true } = {}) {
  const given = String(text ?? "").replaceAll("\r\n", "\n");
  if (PLAIN.test(given) && (lines || !/[\n\t]/.test(given))) return [given];
  const found = [];
  for (const [at, piece] of given.split(PIECES).entries()) {
    if (piece === "") continue;
    if (at % 2 === 0 || (lines && isLine(piece))) {
      if (typeof found.at(-1) === "string") found[found.length - 1] += piece;
      else found.push(piece);
    } else found.push({ mark: nameOf(piece) });
  }
  return found;
}

export const plain = (text) =>
  pieces(text, { lines: false })
    .map((piece) => (typeof piece === "string" ? piece : `<${piece.mark}>`))
    .join("");

export function Text({ value, lines = false }) {
  return pieces(value, { lines }).map((piece) =>
    typeof piece === "string"
      ? piece
      : html`<span class="hostile" title="a hidden character, shown as a mark">${piece.mark}</span>`,
  );
}

// `human:ana` is ana to people; whose kind of hands it was is said where it matters.
export const nameOnly = (principal) => String(principal ?? "").replace(/^human:/, "");
