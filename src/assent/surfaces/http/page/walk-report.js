// The two ends of a walk-through: the preview of what one word would do, and the report of what came of it. The
// report's order is the protocol's: failures, what was done, counts, coverage, verdict.

import { html } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { Text } from "/page/text.js";

const GROUPS = [
  ["Apply", "Applying"],
  ["Defer", "Appending to Open Questions"],
  ["Skip", "Skipping"],
];

export const planned = (findings) =>
  GROUPS.map(([action, heading]) => ({
    action,
    heading,
    findings: findings.filter((finding) => finding.planned === action),
  })).filter((group) => group.findings.length);

export function Preview({ view }) {
  const decided = view.findings.filter((finding) => finding.verb).length;
  return html`<p class="counts">
      This is what will happen. Nothing of it has been done yet.${decided ? ` ${decided} already decided.` : ""}
    </p>
    ${planned(view.findings).map(
      ({ action, heading, findings }) => html`<section class="bucket" key=${action} aria-labelledby=${`p-${action}`}>
        <h2 id=${`p-${action}`}>${heading} (${findings.length}):</h2>
        <ul>
          ${findings.map(
            (finding) => html`<li key=${finding.number}>
              <b>${finding.severity}</b>
              <span><${Text} value=${finding.section} /> — <${Text} value=${finding.title} /></span>
              ${finding.recommended !== action && html`<span class="tag">recommended: ${finding.recommended}</span>`}
            </li>`,
          )}
        </ul>
      </section>`,
    )}`;
}

function detail(verb, entry) {
  if (verb === "deferred") {
    return entry.recorded_only
      ? `recorded in this report only, not in the document${entry.reason ? `: ${entry.reason}` : ""}`
      : entry.append_location && `appended to ${entry.append_location}`;
  }
  return verb === "skipped" || verb === "acknowledged" ? entry.reason : "";
}

function Entry({ entry, lines }) {
  return html`<li>
    <b>${entry.severity}</b>
    <span>
      <${Text} value=${entry.title} />
      ${[...new Set(lines)].filter(Boolean).map((line) => html`<small key=${line}><${Text} value=${line} /></small>`)}
    </span>
    <span class="tag"><${Text} value=${entry.section} /></span>
  </li>`;
}

function Bucket({ id, title, isFailure = false, children }) {
  return html`<section class="bucket ${isFailure ? "bucket-fail" : ""}" aria-labelledby=${id}>
    <h2 id=${id}>${isFailure && html`<${Icon} name="i-alert" /> `}${title}</h2>
    <ul>${children}</ul>
  </section>`;
}

const VERBS = [
  ["applied", "Applied"],
  ["deferred", "Deferred"],
  ["skipped", "Skipped"],
  ["acknowledged", "Acknowledged"],
];

const fixes = (count) => (count === 1 ? "1 fix" : `${count} fixes`);

export function countWords(report) {
  const done = VERBS.filter(([verb]) => report.counts[verb]).map(([verb]) => `${report.counts[verb]} ${verb}`);
  const words = [done.join(", ") || "Nothing was applied, deferred or skipped"];
  const left = report.undecided.length;
  if (left) words.push(left === 1 ? "1 finding stays undecided" : `${left} findings stay undecided`);
  if (report.fixes.length) words.push(`${fixes(report.fixes.length)} applied without a question`);
  return words.join(". ");
}

const Line = ({ name, text }) => html`<li><b>${name}</b><span><${Text} value=${text} /></span><span></span></li>`;

function handedIn({ status, findings }) {
  if (status === "failed") return "nothing that can be read";
  return findings === 1 ? "1 finding" : `${findings} findings`;
}

// What was looked at, and what of it was not asked about; nothing where there is nothing to say.
function Coverage({ report }) {
  const { coverage, fyi, residual_risks: risks, deferred_questions: questions } = report;
  const personas = coverage.personas.map((each) => `${each.reviewer}: ${handedIn(each)}`);
  const lines = [
    ...fyi.map((finding) => ["FYI", finding.title]),
    ...risks.map((risk) => ["Risk", risk]),
    ...questions.map((question) => ["Ask", question]),
    ...personas.map((text) => ["By", text]),
    ...(coverage.dropped ? [["Out", `${coverage.dropped} left out: no findings, or too unsure`]] : []),
    ...coverage.suppressed.map((title) => ["Old", `decided against in an earlier round: ${title}`]),
    ...coverage.not_landed.map((title) => ["Old", `applied in an earlier round, and found again: ${title}`]),
    ...coverage.notes.map((note) => ["Note", note]),
  ];
  if (!lines.length) return null;
  return html`<${Bucket} id="r-coverage" title="Coverage">
    ${lines.map(([name, text], at) => html`<${Line} key=${at} name=${name} text=${text} />`)}
  <//>`;
}

const NEXT = {
  go_on: "It goes on to the next stage.",
  review_again: "It is reviewed again.",
  stop: "It stops here.",
};

export function Report({ view }) {
  const { report } = view;
  return html`${report.failures.length > 0 &&
    html`<${Bucket} id="r-failed" title=${`Failed (${report.failures.length})`} isFailure>
      ${report.failures.map(
        (entry, at) => html`<${Entry} key=${at} entry=${entry} lines=${[`${entry.what} failed: ${entry.reason}`]} />`,
      )}
    <//>`}
    ${VERBS.map(
      ([verb, title]) => report[verb].length > 0 &&
        html`<${Bucket} key=${verb} id=${`r-${verb}`} title=${title}>
          ${report[verb].map((entry) => {
            const lines = [detail(verb, entry), entry.note];
            return html`<${Entry} key=${entry.id} entry=${entry} lines=${lines} />`;
          })}
        <//>`,
    )}
    ${report.undecided.length > 0 &&
    html`<${Bucket} id="r-open" title="Undecided">
      ${report.undecided.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} lines=${[]} />`)}
    <//>`}
    <p class="counts">${countWords(report)}.</p>
    <${Coverage} report=${report} />
    <p class="verdict">Verdict: ${report.verdict}.</p>
    ${view.next_step && html`<p class="counts">What next? ${NEXT[view.next_step]}</p>`}`;
}
