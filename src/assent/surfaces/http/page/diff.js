// A unified difference, read line by line and drawn whole: nothing is cut, and what is no difference is not taken for one.

import { html } from "/page/html.js";
import { plain, Text } from "/page/text.js";

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/;

export const isDiff = (text) => typeof text === "string" && /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text);

// Returns the lines as { type, number, text }; of a line that stays, the number is the new one.
export function parseDiff(text) {
  const lines = [];
  let [before, after] = [0, 0];
  let isInHunk = false;
  const given = text.endsWith("\n") ? text.slice(0, -1) : text;
  for (const line of given.split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after, isInHunk] = [Number(hunk[1]), Number(hunk[2]), true];
      lines.push({ type: "gap", number: "", text: line });
    } else if (isInHunk && line.startsWith("+")) lines.push({ type: "add", number: after++, text: line.slice(1) });
    else if (isInHunk && line.startsWith("-")) lines.push({ type: "del", number: before++, text: line.slice(1) });
    else if (isInHunk && (line.startsWith(" ") || line === "")) {
      lines.push({ type: "", number: after++, text: line.slice(1) });
      before += 1;
    } else {
      if (line.startsWith("diff ") || line.startsWith("--- ")) isInHunk = false;
      lines.push({ type: "gap", number: "", text: line });
    }
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
  return html`<p class="file"><span><${Text} value=${name} /></span><span>${tally(lines)}</span></p>
    <pre class="diff" tabindex="0" role="region" aria-label=${`Difference in ${plain(name)}`}>${lines.map(
      ({ type, number, text: line }) =>
        html`<span class=${type}><i>${number}</i><b>${SIGNS[type]}</b><code><${Text} value=${line} lines /></code></span>`,
    )}</pre>`;
}
