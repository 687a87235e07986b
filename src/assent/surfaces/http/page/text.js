// Text that somebody else wrote, made safe to look at: what a reader could not see, or what would reorder the line that it
// stands in, becomes a mark. The same characters as in the terminal: protocol/display.py has the rules and their reasons.

import { html } from "/page/html.js";

const FILLERS =
  "\\u034f\\u115f\\u1160\\u3164\\uffa0\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\ufffc\\u{16fe4}\\u{1d159}" +
  "\\u{13441}\\u{13442}\\ufe00-\\ufe0f\\u{e0000}-\\u{e0fff}";
const HIDDEN = `[\\p{C}\\p{Zl}\\p{Zp}${FILLERS}]`;
// What sits on the character before it. The last ones count as letters of their own, and stack all the same.
const STACKED =
  `(?!${HIDDEN})[\\p{Mn}\\p{Me}\\u1715\\u1734\\u1b44\\u1baa\\u1bf2\\u1bf3\\u302e\\u302f\\ua953\\ua9c0\\u{111c0}\\u{11235}` +
  "\\u{1134d}\\u{116b6}\\u{1193d}\\u{16ff0}\\u{16ff1}\\u{1d165}\\u{1d166}\\u{1d16d}-\\u{1d172}]";
// Too many marks on one base would paint over the lines around; marks without a base would sit on a sign of ours. A whole
// tower is one match, for looking back from each of its marks over all the others would take for ever.
const findPieces = (start) => new RegExp(`((?<=(?:${STACKED}){8})(?:${STACKED})+|(?<=${start})(?:${STACKED})+|${HIDDEN})`, "u");
const IN_LINES = findPieces("^|\\n");
const IN_LINE = findPieces("^");
const PLAIN = /^[\x20-\x7e\n\t]*$/;

const nameOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
const isLine = (piece) => piece === "\n" || piece === "\t";

// Returns strings, and { mark } for what is hidden.
export function pieces(text, { lines = true } = {}) {
  const given = lines ? String(text ?? "").replaceAll("\r\n", "\n") : String(text ?? "");
  if (PLAIN.test(given) && (lines || !/[\n\t]/.test(given))) return [given];
  const found = [];
  for (const [at, piece] of given.split(lines ? IN_LINES : IN_LINE).entries()) {
    if (piece === "") continue;
    if (at % 2 === 0 || (lines && isLine(piece))) {
      if (typeof found.at(-1) === "string") found[found.length - 1] += piece;
      else found.push(piece);
    } else for (const character of piece) found.push({ mark: nameOf(character) });
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
