// The findings of a walk-through in one row: what was decided, where it is now, what is to come. A long one is a bar.

import { html } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { plain } from "/page/text.js";

const PILLS = 20; // more of them are a wall, and nobody counts them

export const SIGNS = {
  Applied: "i-tick",
  Deferred: "i-clock",
  Skipped: "i-arrow",
  Acknowledged: "i-eye",
  Failed: "i-alert",
};

// What became of a finding, in a word; empty while it is open.
export const fateOf = (finding) =>
  finding.failure && !finding.verb ? "Failed" : (finding.verb ?? "");

export function tally(findings) {
  const counts = { Applied: 0, Deferred: 0, Skipped: 0, Acknowledged: 0, Failed: 0, open: 0 };
  for (const finding of findings) counts[fateOf(finding) || "open"] += 1;
  return counts;
}

export function tallyWords(findings) {
  const { open, ...done } = tally(findings);
  const made = Object.entries(done).filter(([, count]) => count);
  const words = made.map(([name, count]) => `${count} ${name.toLowerCase()}`);
  if (open) words.push(`${open} to decide`);
  return words.join(", ");
}

function Pill({ finding, isHere }) {
  const fate = fateOf(finding);
  const title = plain(`${finding.severity} ${finding.title}`);
  const name = `${finding.number} ${fate || finding.severity}`;
  if (isHere) return html`<li class="here" aria-current="step" title=${title}>${name}</li>`;
  if (!fate) return html`<li title=${title}>${name}</li>`;
  return html`<li class="done" title=${title}><${Icon} name=${SIGNS[fate]} />${name}</li>`;
}

// Decided ones are full, the one that is asked about now is marked, the rest is empty; the words below say the same.
function Bar({ findings, here }) {
  const total = findings.length;
  return html`<div class="stepbar">
    <svg viewBox=${`0 0 ${total} 4`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" x="0" y="0" width=${total} height="4" />
      ${findings.map(
        (finding, at) =>
          fateOf(finding) && html`<rect key=${finding.number} class="past" x=${at} y="0" width="1.02" height="4" />`,
      )}
      ${here && html`<rect class="now" x=${here - 1} y="0" width=${Math.max(1, total / 100)} height="4" />`}
    </svg>
    <p>${here ? `Finding ${here} of ${total}: ` : `${total} findings: `}${tallyWords(findings)}</p>
  </div>`;
}

export function Steps({ view }) {
  const { findings, question } = view;
  const here = question?.number ?? null;
  if (!findings.length) return null;
  if (findings.length > PILLS) return html`<${Bar} findings=${findings} here=${here} />`;
  return html`<ol class="steps" aria-label="Findings of this walk-through">
    ${findings.map(
      (finding) => html`<${Pill} key=${finding.number} finding=${finding} isHere=${finding.number === here} />`,
    )}
  </ol>`;
}
