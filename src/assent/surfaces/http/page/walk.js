// A walk-through as a whole: its findings with what was decided, the question that it stands at, and in the end its
// report. The questions themselves are answered in the inbox, like all others.

import { html, useEffect, useRef, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { Icon } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { href } from "/page/route.js";
import { nameOnly, Text } from "/page/text.js";
import { moment, span } from "/page/time.js";
import { Reviews } from "/page/walk-list.js";
import { Preview, Report } from "/page/walk-report.js";
import { fateOf, SIGNS, Steps, tallyWords } from "/page/walk-steps.js";

const SETTLE_MS = 150; // one answer makes several events
const LOOK_MS = 1_500; // what an agent does between two questions makes none

function useReview(project, flow) {
  const [view, setView] = useState(null);
  const [error, setError] = useState(null);
  const latest = useRef(0);
  useEffect(() => {
    let timer = 0;
    const load = () => {
      const number = ++latest.current;
      get(projectPath(project, "reviews", flow)).then(
        (found) => {
          if (number !== latest.current) return; // a later one was asked for
          setView(found);
          setError(null);
          if (found.state === "working") later(LOOK_MS);
        },
        (failure) => number === latest.current && setError(failure),
      );
    };
    const later = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(load, ms);
    };
    setView(null);
    setError(null);
    load();
    const stop = onEvent((event) => event.project === project && event.type.startsWith("ask.") && later(SETTLE_MS));
    return () => {
      latest.current += 1;
      clearTimeout(timer);
      stop();
    };
  }, [project, flow]);
  return { view, error };
}

const QUESTIONS = {
  routing: () => "Which way should it go?",
  finding: (number) => `Finding ${number} waits for a decision.`,
  no_fix: (number) => `Finding ${number} has no fix that could be applied: what instead?`,
  cascade: (number) => `Others depend on finding ${number}: should they follow it?`,
  failure: (number) => `Finding ${number} could not be appended: what instead?`,
  preview: () => "The plan below waits for a yes.",
  next: () => "What comes next?",
};

function Where({ view, project }) {
  const { question, state } = view;
  if (question?.ask_id) {
    return html`<div class="here-now">
      <p><${Icon} name="k-finding" /><b>${QUESTIONS[question.about]?.(question.number) ?? "A question waits."}</b></p>
      <a class="btn btn-main" href=${href("inbox", project, question.ask_id)}>Answer it <${Icon} name="i-arrow" /></a>
    </div>`;
  }
  if (state === "working") {
    return html`<div class="here-now is-calm">
      <p>
        <${Icon} name="s-running" /><b>Nobody is asked just now.</b>
        <span>The agent is at work, or has to be started again: it goes on where it stopped.</span>
      </p>
    </div>`;
  }
  if (state === "left") {
    return html`<div class="here-now is-calm">
      <p>
        <${Icon} name="i-no" /><b>It was left: the last question was ${view.ended}.</b>
        <span>No fix was applied. What was deferred before stands in the document.</span>
      </p>
    </div>`;
  }
  return null;
}

function Fate({ finding }) {
  const fate = fateOf(finding);
  if (!fate) return html`<span class="tag">recommended: ${finding.recommended}</span>`;
  const word = fate === "Applied" && !finding.isOver ? "Apply" : fate;
  return html`<span class="tag ${fate === "Failed" ? "tag-danger" : ""}"><${Icon} name=${SIGNS[fate]} />${word}</span>`;
}

// Why, and through whom: the same three things in the same order on every line.
function Notes({ finding }) {
  const { verb, note, reason, by, at, failure, append_location: place, recorded_only: isOnlyRecorded } = finding;
  const lines = [failure, note, verb === "Deferred" && !isOnlyRecorded && place ? `appended to ${place}` : "", reason];
  return html`${lines.filter(Boolean).map((line) => html`<small key=${line}><${Text} value=${line} /></small>`)}
    ${by && html`<small class="quiet"><${Text} value=${nameOnly(by)} />, ${moment(at)}</small>`}`;
}

function Findings({ view }) {
  const { findings, question, state } = view;
  const isOver = state === "finished";
  return html`<section class="bucket" aria-labelledby="w-all">
    <h2 id="w-all">All findings <span class="quiet">${tallyWords(findings)}</span></h2>
    <ol>
      ${findings.map(
        (finding) => html`<li key=${finding.number} class=${finding.number === question?.number ? "is-here" : ""}
          aria-current=${finding.number === question?.number ? "step" : null}>
          <b>${finding.severity}</b>
          <span>
            ${finding.number}. <${Text} value=${finding.title} />
            <small>
              <${Text} value=${finding.section} />
              ${finding.depends_on && ` · falls with finding ${finding.depends_on}`}
            </small>
            <${Notes} finding=${finding} />
          </span>
          <${Fate} finding=${{ ...finding, isOver }} />
        </li>`,
      )}
    </ol>
    ${!isOver &&
    html`<p class="bucket-foot">
      Fixes are made after the last decision, all in one go; an entry that is deferred stands in the document at once.
    </p>`}
  </section>`;
}

const Folded = ({ view }) => html`<details class="fold">
  <summary>Every finding, in order</summary>
  <${Findings} view=${view} />
</details>`;

function head(view) {
  const { began_at: began, last_at: last, findings, state } = view;
  const took = began && last && state === "finished" ? ` in ${span(Date.parse(last) - Date.parse(began))}` : "";
  const count = findings.length === 1 ? "1 finding" : `${findings.length} findings`;
  const round = view.round > 1 ? ` · round ${view.round}` : "";
  return `${count}${took}${round}`;
}

const NOT_HERE = "It may be of another project, or in memory only: those leave no trace.";
const TITLES = { finished: "Walk-through finished", left: "Walk-through left" };

function Review({ project, flow }) {
  const { view, error } = useReview(project, flow);
  if (!view) {
    if (!error) return html`<section class="blank" aria-busy="true"><h1>One moment</h1></section>`;
    return html`<section class="blank">
      <h1>${error.status === 404 ? "There is no such walk-through" : "It cannot be shown just now"}</h1>
      <p>${error.status === 404 ? NOT_HERE : error.message}</p>
      <a class="btn" href=${href("walk", project)}>All walk-throughs of <${Text} value=${project} /></a>
    </section>`;
  }
  return html`<div class="page">
    <div class="page-head">
      <h1>${TITLES[view.state] ?? "Walk-through"}</h1>
      <span class="quiet walk-where"
        ><${Text} value=${view.document} /> · <a href=${href("walk", project)}><${Text} value=${project} /></a> ·
        ${` ${head(view)}`}</span
      >
    </div>
    <div class="page-body">
      <div class="walk">
        ${!view.report && html`<${Steps} view=${view} />`}
        ${view.problem &&
        html`<p class="note" role="status">
          <${Icon} name="i-alert" /> This walk-through cannot be followed to its end. <${Text} value=${view.problem} /> What is
          shown below is what is sure.
        </p>`}
        <div role="status"><${Where} view=${view} project=${project} /></div>
        ${view.question?.about === "preview" && html`<${Preview} view=${view} />`}
        ${view.report && html`<${Report} view=${view} />`}
        ${view.findings.length > 0 &&
        (view.report ? html`<${Folded} view=${view} />` : html`<${Findings} view=${view} />`)}
        ${view.driver &&
        html`<p class="quiet walk-by">Driven by <${Text} value=${view.driver} />. Begun ${view.date}.</p>`}
      </div>
    </div>
  </div>`;
}

export function WalkThrough({ route }) {
  const [project, flow] = route.parts;
  if (!flow) return html`<${Reviews} only=${project} />`;
  return html`<${Review} key=${`${project}/${flow}`} project=${project} flow=${flow} />`;
}
