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
// What makes one picture of several, a picture of a sign, or a key of a digit.
const PICTURE =
  "(?!\\p{Cn})[\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2194-\\u21aa\\u231a-\\u23ff\\u24c2\\u25aa-\\u27bf" +
  "\\u2934\\u2935\\u2b05-\\u2b55\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}]";
const JOINT =
  `(?:(?<=${PICTURE})\\ufe0f|(?<=${PICTURE}\\ufe0f?)\\u200d(?=${PICTURE})|(?<=[0-9#*])\\ufe0f(?=\\u20e3))`;
// Too many marks on one base would paint over the lines around; marks without a base would sit on a sign of ours. A whole
// tower is one match, for looking back from each of its marks over all the others would take for ever.
const findPieces = (start, hidden) =>
  new RegExp(`((?<=(?:${STACKED}){8})(?:${STACKED})+|(?<=${start})(?:${STACKED})+|${hidden})`, "u");
const IN_LINES = findPieces("^|\\n", `(?!${JOINT})${HIDDEN}`);
const IN_LINE = findPieces("^", `(?!${JOINT})${HIDDEN}`);
const EXACT = findPieces("^|\\n", `${HIDDEN}|(?! )\\p{Zs}| $`);
const PLAIN = /^[\x20-\x7e\n\t]*$/;
const PLAIN_EXACT = /^([\x20-\x7e]*[\x21-\x7e])?$/;

const nameOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
const isLine = (piece) => piece === "\n" || piece === "\t";

// Returns strings, and { mark } for what is hidden. Of what is `exact`, such as a command, every character counts: a line
// end is drawn and marked, and so is every blank that is not a plain one, or that ends the text. In exact `lines` the line
// ends are those of whoever draws it, and are not marked.
export function pieces(text, { lines = true, exact = false } = {}) {
  const given = lines && !exact ? String(text ?? "").replaceAll("\r\n", "\n") : String(text ?? "");
  if (exact ? PLAIN_EXACT.test(given) : PLAIN.test(given) && (lines || !/[\n\t]/.test(given))) return [given];
  const found = [];
  const take = (piece) => {
    if (typeof found.at(-1) === "string") found[found.length - 1] += piece;
    else found.push(piece);
  };
  for (const [at, piece] of given.split(exact ? EXACT : lines ? IN_LINES : IN_LINE).entries()) {
    if (piece === "") continue;
    if (at % 2 === 0 || (lines && (exact ? piece === "\n" : isLine(piece)))) take(piece);
    else {
      for (const character of piece) found.push({ mark: nameOf(character) });
      if (exact && piece === "\n") take(piece);
    }
  }
  return found;
}

export const plain = (text) =>
  pieces(text, { lines: false })
    .map((piece) => (typeof piece === "string" ? piece : `<${piece.mark}>`))
    .join("");

// The first line of a text, for a row; a sign says that there are more.
export const firstLine = (text) => text.replace(/\r?\n[^]*/, "…");

// Text for a choice of a list, where no element can stand and a browser joins blanks.
export const inOption = (text) => plain(text).replaceAll(" ", "\u00a0");

// Text that is read from right to left stands by itself, so that it turns nothing around it.
const RIGHT = "[\\u0590-\\u08ff\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]";
const HAS_RIGHT = new RegExp(RIGHT, "u");
const RIGHT_WORDS = new RegExp(`(${RIGHT}+)`, "u");
const HAS_ROOM = /^ | $| {2}|[\n\t]/;

const Mark = ({ name }) => html`<span class="hostile" title="a hidden character, shown as a mark">${name}</span>`;

// What a machine reads stays in the order in which it stands: only its single words are turned.
const inOrder = (piece) => piece.split(RIGHT_WORDS).map((part, at) => (at % 2 ? html`<bdi>${part}</bdi>` : part));

// `code` is what a machine reads, `exact` also what it takes character by character, and `bare` a part of a longer text
// that has its own element.
export function Text({ value, lines = false, exact = false, code = exact, bare = false }) {
  const text = String(value ?? "");
  const hasRight = HAS_RIGHT.test(text);
  const drawn = pieces(text, { lines, exact }).map((piece) => {
    if (typeof piece !== "string") return html`<${Mark} name=${piece.mark} />`;
    return code && hasRight ? inOrder(piece) : piece;
  });
  if (code) return html`<span class=${exact ? "as-is code exact" : "as-is code"}>${drawn}</span>`;
  // Of several pieces each would be a box of its own where the parent lays out boxes, without the blanks at its ends.
  return !bare && (hasRight || drawn.length > 1 || HAS_ROOM.test(text)) ? html`<bdi class="as-is">${drawn}</bdi>` : drawn;
}

// `human:ana` is ana to people; whose kind of hands it was is said where it matters.
export const nameOnly = (principal) => String(principal ?? "").replace(/^human:/, "");
