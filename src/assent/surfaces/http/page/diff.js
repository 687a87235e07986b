// A unified difference, read line by line and drawn whole: nothing is cut, and what is no difference is not taken for one.

import { html } from "/page/html.js";
import { plain, Text } from "/page/text.js";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

export const isDiff = (text) => typeof text === "string" && /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text);

// Returns the lines as { type, number, text }; of a line that stays, the number is the new one. A hunk says how many lines
// it has, so that the head of the next file is not taken for a line that goes.
export function parseDiff(text) {
  const lines = [];
  let [before, after, oldLeft, newLeft] = [0, 0, 0, 0];
  const take = (type, number, line) => lines.push({ type, number, text: line });
  const given = text.endsWith("\n") ? text.slice(0, -1) : text;
  for (const line of given.split("\n")) {
    const sign = line.slice(0, 1);
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, oldLeft, after, newLeft] = [hunk[1], hunk[2] ?? 1, hunk[3], hunk[4] ?? 1].map(Number);
      take("gap", "", line);
    } else if (sign === "+" && newLeft > 0) {
      take("add", after++, line.slice(1));
      newLeft -= 1;
    } else if (sign === "-" && oldLeft > 0) {
      take("del", before++, line.slice(1));
      oldLeft -= 1;
    } else if ((sign === " " || line === "") && (oldLeft > 0 || newLeft > 0)) {
      take("", after++, line.slice(1));
      [before, oldLeft, newLeft] = [before + 1, oldLeft - 1, newLeft - 1];
    } else take("gap", "", line);
  }
  return lines;
}

export function tally(lines) {
  const count = (type) => lines.filter((line) => line.type === type).length;
  const [added, removed] = [count("add"), count("del")];
  return [added && `+${added}`, removed && `−${removed}`].filter(Boolean).join(" ") || "no change";
}

const SIGNS = { add: "+", del: "−", gap: " ", "": " " };

export function Diff({ text, name }) {
  const lines = parseDiff(text);
  return html`<p class="file"><span><${Text} value=${name} exact /></span><span>${tally(lines)}</span></p>
    <pre class="diff" tabindex="0" role="region" aria-label=${`Difference in ${plain(name)}`}>${lines.map(
      ({ type, number, text: line }) =>
        html`<span class=${type}><i>${number}</i><b>${SIGNS[type]}</b><code><${Text} value=${line} lines code /></code></span>`,
    )}</pre>`;
}
