// One run from its start to its end, as the log has it: iterations, what it was told, what was asked in it.

import { html, useEffect, useMemo, useRef, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { sayEvent } from "/page/event-words.js";
import { count } from "/page/figures.js";
import { EventLink, Head, Newer, Nothing, number } from "/page/history-parts.js";
import { Icon } from "/page/icons.js";
import { byDay, entriesOf, eventsOfRun, isStartOf, mayBeOf, readDown, signOf } from "/page/past.js";
import { href } from "/page/route.js";
import { runKey, serverNow, useStore } from "/page/store.js";
import { Text } from "/page/text.js";
import { clock, moment, span } from "/page/time.js";

const STRETCH = 500;
const STRETCHES = 20; // so far back it is looked at once; then somebody is asked whether to go on
const BEHIND = 50; // what ends with a run stands just behind its own last event
const SHOWN = 300;

// The run's own events: the log is read downwards until its start is found, and upwards when the run has
// changed. Of other events nothing is kept.
function useRun(project, runId, sequence) {
  const empty = { run: null, events: [], low: null, high: 0, isWhole: false, isBusy: true, problem: "" };
  const [told, setTold] = useState(empty);
  const turn = useRef(0);
  const tried = useRef();
  const read = (query) => get(projectPath(project, "log"), query);
  const keep = (page) => page.filter((event) => mayBeOf(event, runId));

  // Does something unless something newer was begun meanwhile; whatever goes wrong is said.
  async function attempt(work) {
    const mine = ++turn.current;
    const isLate = () => mine !== turn.current;
    setTold((now) => ({ ...now, isBusy: true, problem: "" }));
    try {
      await work(isLate);
      if (!isLate()) setTold((now) => ({ ...now, isBusy: false }));
    } catch (error) {
      const problem = error.status === 404 ? "There is no such run." : error.message;
      if (!isLate()) setTold((now) => ({ ...now, isBusy: false, problem }));
    }
  }

  const down = () =>
    attempt(async (isLate) => {
      const [run, head] = await Promise.all([
        get(projectPath(project, "runs", runId)),
        get(projectPath(project, "log", "head")),
      ]);
      const top = run.ended_at ? Math.min(head.sequence, run.sequence + BEHIND) : head.sequence;
      let { events, low, high } = told.low === null ? { events: [], low: top, high: top } : told;
      let isWhole = false;
      for (let stretch = 0; stretch < STRETCHES && low > 0 && !isWhole; stretch += 1) {
        const page = await readDown(read, Math.max(0, low - STRETCH), low);
        if (isLate()) return;
        low = Math.max(0, low - STRETCH);
        isWhole = low === 0 || page.some((event) => isStartOf(event, runId));
        events = [...events, ...keep(page)];
        setTold((now) => ({ ...now, run, events, low, high, isWhole }));
      }
    });

  const up = () =>
    attempt(async (isLate) => {
      const run = await get(projectPath(project, "runs", runId));
      const { sequence: high } = await get(projectPath(project, "log", "head"));
      const page = await readDown(read, told.high, high);
      if (!isLate()) setTold((now) => ({ ...now, run, high, events: [...keep(page), ...now.events] }));
    });

  useEffect(() => {
    down();
    return () => (turn.current += 1);
  }, []);
  // Once for each change, and never while it is read already: a run may change faster than it can be read.
  useEffect(() => {
    if (told.isBusy || told.low === null || tried.current === sequence) return;
    tried.current = sequence;
    if (sequence > told.high) up();
  }, [sequence, told.isBusy]);
  return { ...told, more: down };
}

function Entry({ project, entry: { event, end } }) {
  const { type, data } = event;
  const took = end && Date.parse(end.at) - Date.parse(event.at);
  const words =
    type === "run.turn_begun"
      ? `Iteration ${data.number}${data.attempt > 1 ? `, attempt ${data.attempt}` : ""}`
      : sayEvent(event);
  return html`<li class="moment" data-depth=${Math.min(3, data.depth ?? 0)}>
    <time datetime=${event.at}>${clock(event.at)}</time>
    <${Icon} name=${signOf(event)} />
    <span class="moment-words">
      <${Text} value=${words} />
      ${end && html` <small>took ${span(took)}</small>`}
      ${
        end?.data.failure &&
        html`<small class="failed">
          <${Icon} name="i-alert" /><span>failed: <${Text} value=${end.data.failure} /></span>
        </small>`
      }
      ${type === "run.turn_begun" && !end && html` <small>not over, or interrupted</small>`}
    </span>
    <span class="moment-links">
      ${data.ask_id && html`<a href=${href("inbox", project, data.ask_id)}>the ask</a>`}
      <${EventLink} project=${project} sequence=${event.sequence} />
    </span>
  </li>`;
}

function Days({ project, entries }) {
  return byDay(entries, ({ event }) => event.at).map(
    ({ name, entries: each }) =>
      html`<h3 class="day" key=${name}>${name}</h3>
        <ol class="moments">
          ${each.map(
            (entry) => html`<${Entry} key=${entry.event.sequence} project=${project} entry=${entry} />`,
          )}
        </ol>`,
  );
}

const sayRun = (run) =>
  `${run.project} · ${run.run_id} · ${run.status} · began ${moment(run.started_at, serverNow())}`;

function Choose() {
  const runs = useStore((state) => state.runs);
  const known = useMemo(
    () => [...runs.values()].sort((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at)),
    [runs],
  );
  return html`<div class="page">
    <${Head} tab="run" />
    <div class="page-body">
      ${
        known.length
          ? html`<h2 class="sr">Choose a run</h2>
              <ul class="chooser">
                ${known.map(
                  (run) =>
                    html`<li key=${runKey(run)}>
                      <a href=${href("history", "run", run.project, run.run_id)}>
                        <b><${Text} value=${run.title || run.run_id} /></b>
                        <span><${Text} value=${sayRun(run)} /></span>
                      </a>
                    </li>`,
                )}
              </ul>`
          : html`<${Nothing} title="No run yet">
              A run appears here with its start, and keeps its story: iterations, commands, asks, its end.
            <//>`
      }
    </div>
  </div>`;
}

function Story({ project, runId }) {
  const sequence = useStore((state) => state.runs.get(`${project}/${runId}`)?.sequence);
  const { run, events, low, isWhole, isBusy, problem, more } = useRun(project, runId, sequence);
  const [isAll, setIsAll] = useState(false);
  const entries = useMemo(() => entriesOf(eventsOfRun(events, runId)), [events, runId]);
  const shown = isAll ? entries : entries.slice(-SHOWN);
  const reason = run?.reason ? `, ended with ${run.reason}` : "";
  const part = isWhole ? "" : " as far as it was read";
  const hidden = entries.length - shown.length;
  const asks = entries.filter(({ event }) => event.type === "ask.opened").length;
  const turns = entries.filter(({ event }) => event.type === "run.turn_begun").length;
  const took = run?.ended_at ? `, took ${span(Date.parse(run.ended_at) - Date.parse(run.started_at))}` : "";
  return html`<div class="page">
    <${Head} tab="run"><a class="push" href=${href("runs", project, runId)}>On the run board</a><//>
    <div class="page-body">
      ${
        run &&
        html`<h2 class="story"><${Text} value=${run.title || run.run_id} /></h2>
          <p class="quiet">
            <${Text} value=${`${sayRun(run)}${took}${reason}`} />
          </p>
          <p class="quiet">${count(turns, "iteration")}, ${count(asks, "ask")}${part}</p>`
      }
      ${
        !isWhole &&
        !isBusy &&
        low > 0 &&
        html`<${Newer} onClick=${more}>Read further back: ${number(low)} events are older<//>`
      }
      ${
        hidden > 0 &&
        html`<${Newer} onClick=${() => setIsAll(true)}>Show ${number(hidden)} earlier moments<//>`
      }
      <${Days} project=${project} entries=${shown} />
      <div class="reach" role="status">
        ${problem && html`<span class="notice">${problem}</span>`}
        ${isBusy && html`<span>Reading the log…</span>`}
      </div>
    </div>
  </div>`;
}

export function Timeline({ route }) {
  const [, project, runId] = route.parts;
  return project && runId
    ? html`<${Story} key=${`${project}/${runId}`} project=${project} runId=${runId} />`
    : html`<${Choose} />`;
}
