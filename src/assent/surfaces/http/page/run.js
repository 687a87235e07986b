// One run: what holds of it now, where it is in its stack, what was commanded, what waits for people, what it prints.

import { get, projectPath } from "/page/api.js";
import { Fragment, html, useEffect, useRef, useState } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { href } from "/page/route.js";
import { KINDS } from "/page/rows.js";
import { RunSteer } from "/page/run-steer.js";
import { RunTail } from "/page/run-tail.js";
import { RunWire, useLines } from "/page/run-wire.js";
import {
  frameFacts,
  frameName,
  headWords,
  isEnded,
  nameOf,
  progress,
  STATES,
  stateOf,
  waitsFor,
} from "/page/run-words.js";
import { takeRuns, useNow } from "/page/store.js";
import { Text } from "/page/text.js";
import { age, moment } from "/page/time.js";

function Frame({ levels }) {
  const [level, ...inner] = levels;
  const [mode, ...rest] = frameName(level.frame).split(" ");
  const facts = frameFacts(level);
  return html`<div class="frame">
    <p class="frame-top">
      <b>${mode}</b>
      ${rest.length > 0 && html`<span><${Text} value=${rest.join(" ")} /></span>`}
      <span class="num">${progress(level)}</span>
    </p>
    ${facts.length > 0 && html`<small><${Text} value=${facts.join(" · ")} /></small>`}
    <small class="mono"><${Text} value=${level.frame.id} /></small>
    ${inner.length > 0 && html`<${Frame} levels=${inner} />`}
  </div>`;
}

function Frames({ run }) {
  const { levels } = run.record;
  const isNested = levels.length > 1;
  const words = isEnded(run) ? "as it was at the end" : isNested ? "the innermost frame is current" : "one loop";
  return html`<section class="sect half" aria-labelledby="t-frames">
    <h3 id="t-frames">Where it is <span class="quiet">${words}</span></h3>
    <div class="frames ${isNested ? "" : "frames-one"}"><${Frame} levels=${levels} /></div>
  </section>`;
}

function Waiting({ asks, now }) {
  return html`<section class="sect" aria-labelledby="t-waits">
    <h3 id="t-waits">Waits for you <span class="quiet">asks of this run</span></h3>
    <ul>
      ${asks.map((ask) => {
        const kind = KINDS[ask.kind] ?? KINDS.question;
        return html`<li key=${ask.ask_id}>
          <a class="row" href=${href("inbox", ask.project, ask.ask_id)}>
            <${Icon} name=${kind.icon} />
            <span class="row-top"><b>${kind.name}</b></span>
            <time class="row-age" datetime=${ask.opened_at}>${age(ask.opened_at, now)}</time>
            <span class="row-title"><${Text} value=${ask.prompt.title} /></span>
          </a>
        </li>`;
      })}
    </ul>
  </section>`;
}

function Facts({ run }) {
  const { record } = run;
  return html`<p class="run-facts label">
    <span>project <b><${Text} value=${run.project} /></b></span>
    <span>run <b class="mono"><${Text} value=${run.run_id} /></b></span>
    <span>
      begun <time datetime=${run.started_at}>${moment(run.started_at)}</time> by <${Text} value=${record.started_by} />
    </span>
    ${run.driver && html`<span>driven by <${Text} value=${run.driver} /></span>`}
    <a href=${href("history", "run", run.project, run.run_id)}>Timeline</a>
  </p>`;
}

function Body({ run, asks }) {
  const now = useNow();
  const own = useRef(new Set());
  const lines = useLines(run);
  const kind = stateOf(run, now);
  const state = STATES[kind] ?? STATES.running;
  const isAlone = !isEnded(run) && !run.driver;
  return html`<div class="run-body" data-run=${run.run_id} data-state=${kind}>
    <div class="run-head">
      <div>
        <a class="btn btn-bare btn-small back" href=${href("runs")}><${Icon} name="i-back" />Runs</a>
        <h2><${Text} value=${nameOf(run)} /></h2>
        <p class="ask-kind">
          <span class="tag ${state.tag}"><${Icon} name=${state.icon} />${state.name}</span>
          ${isAlone &&
          kind !== "stale" &&
          html`<span class="tag tag-caution"><${Icon} name="i-alert" />no live driver</span>`}
          ${asks.length > 0 && html`<span class="tag tag-accent">${waitsFor(asks)}</span>`}
          <span class="run-words"><${Text} value=${headWords(run, now)} /></span>
        </p>
      </div>
      <${RunSteer} key=${run.run_id} run=${run} noteOwn=${(id) => own.current.add(id)} />
    </div>
    <${Frames} run=${run} />
    <${RunWire} run=${run} lines=${lines} own=${own.current} />
    ${asks.length > 0 && html`<${Waiting} asks=${asks} now=${now} />`}
    <${RunTail} run=${run} />
    <${Facts} run=${run} />
  </div>`;
}

// A run that the list does not hold (it is old, or somebody followed a link) is asked for.
function Missing({ project, runId, isLoaded }) {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!isLoaded) return;
    get(projectPath(project, "runs", runId)).then(
      (run) => takeRuns([run]),
      (error) => setProblem(error.message),
    );
  }, [project, runId, isLoaded]);
  return html`<section class="blank" aria-busy=${problem ? null : "true"}>
    ${problem
      ? html`<${Fragment}>
          <h2>There is no such run</h2>
          <p><${Text} value=${problem} /></p>
          <p><a class="btn" href=${href("runs")}>All runs</a></p>
        </${Fragment}>`
      : html`<h2>One moment</h2>`}
  </section>`;
}

export function RunCard({ project, runId, run, asks, isLoaded }) {
  return run
    ? html`<${Body} key=${`${project}/${runId}`} run=${run} asks=${asks} />`
    : html`<${Missing} key=${`${project}/${runId}`} project=${project} runId=${runId} isLoaded=${isLoaded} />`;
}
