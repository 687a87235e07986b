// One run from its start to its end, as the log has it: iterations, what it was told, what was asked in it.

import { html, useEffect, useMemo, useRef, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { Head, logHref } from "/page/history.js";
import { Icon, Mark } from "/page/icons.js";
import { entriesOf, eventsOfRun, isStartOf, readDown, sayEvent, signOf } from "/page/past.js";
import { href } from "/page/route.js";
import { runKey, useStore } from "/page/store.js";
import { Text } from "/page/text.js";
import { clock, day, moment, span } from "/page/time.js";

const STRETCH = 500;
const STRETCHES = 20; // so far back it is looked at once; then somebody is asked whether to go on
const BEHIND = 50; // what ends with a run stands just behind its own last event
const SHOWN = 300;

// The run's own events: the log is read downwards until its start is found. Of other events nothing is kept.
function useRun(project, runId, sequence) {
  const [told, setTold] = useState({ run: null, events: [], low: null, isWhole: false, isBusy: true, problem: "" });
  const turn = useRef(0);
  const read = (query) => get(projectPath(project, "log"), query);

  async function down(known, start) {
    const mine = ++turn.current;
    let [events, low, isWhole] = [known, start, false];
    setTold((now) => ({ ...now, isBusy: true, problem: "" }));
    try {
      const [run, head] = await Promise.all([
        get(projectPath(project, "runs", runId)),
        get(projectPath(project, "log", "head")),
      ]);
      low ??= run.ended_at ? Math.min(head.sequence, run.sequence + BEHIND) : head.sequence;
      for (let stretch = 0; stretch < STRETCHES && low > 0 && !isWhole; stretch += 1) {
        const page = await readDown(read, Math.max(0, low - STRETCH), low);
        if (mine !== turn.current) return;
        low = Math.max(0, low - STRETCH);
        isWhole = low === 0 || page.some((event) => isStartOf(event, runId));
        // Ends and replies name only an ask or a request; whose those are is told by older events.
        events = [...events, ...page.filter(({ type, data }) => data && /^(run|ask|control)\./.test(type) && (!data.run_id || data.run_id === runId))];
        setTold({ run, events, low, isWhole, isBusy: true, problem: "" });
      }
      if (mine === turn.current) setTold({ run, events, low, isWhole, isBusy: false, problem: "" });
    } catch (error) {
      if (mine === turn.current) setTold((now) => ({ ...now, isBusy: false, problem: error.status === 404 ? "There is no such run." : error.message }));
    }
  }

  useEffect(() => {
    down([], null);
    return () => (turn.current += 1);
  }, [project, runId, sequence]);
  return { ...told, more: () => down(told.events, told.low) };
}

function Entry({ project, entry: { event, end } }) {
  const { type, data } = event;
  const took = end && Date.parse(end.at) - Date.parse(event.at);
  const words = type === "run.turn_begun" ? `Iteration ${data.number}${data.attempt > 1 ? `, attempt ${data.attempt}` : ""}` : sayEvent(event);
  return html`<li class="moment" data-depth=${Math.min(3, data.depth ?? 0)}>
    <time datetime=${event.at}>${clock(event.at)}</time>
    <${Icon} name=${signOf(event)} />
    <span class="moment-words">
      <${Text} value=${words} />
      ${end && html` <small>took ${span(took)}</small>`}
      ${end?.data.failure && html`<small class="failed"><${Icon} name="i-alert" />failed: <${Text} value=${end.data.failure} /></small>`}
      ${type === "run.turn_begun" && !end && html` <small>not over, or interrupted</small>`}
    </span>
    <span class="moment-links">
      ${data.ask_id && html`<a href=${href("inbox", project, data.ask_id)}>the ask</a>`}
      <a class="mono" href=${logHref(project, event.sequence)}><span class="sr">Event </span>${event.sequence.toLocaleString("en-GB")}</a>
    </span>
  </li>`;
}

function Days({ project, entries }) {
  const days = [];
  for (const entry of entries) {
    const name = day(entry.event.at);
    if (days.at(-1)?.name !== name) days.push({ name, entries: [] });
    days.at(-1).entries.push(entry);
  }
  return days.map(({ name, entries: each }) => html`<h3 class="day" key=${name}>${name}</h3>
    <ol class="moments">${each.map((entry) => html`<${Entry} key=${entry.event.sequence} project=${project} entry=${entry} />`)}</ol>`);
}

function Choose() {
  const runs = useStore((state) => state.runs);
  const known = useMemo(() => [...runs.values()].sort((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at)), [runs]);
  return html`<div class="page">
    <${Head} tab="run" />
    <div class="page-body">
      ${known.length
        ? html`<h2 class="sr">Choose a run</h2><ul class="chooser">
            ${known.map((run) => html`<li key=${runKey(run)}><a href=${href("history", "run", run.project, run.run_id)}>
              <b><${Text} value=${run.title || run.run_id} /></b>
              <span><${Text} value=${run.project} /> · <span class="mono"><${Text} value=${run.run_id} /></span> · ${run.status} · began ${moment(run.started_at)}</span>
            </a></li>`)}
          </ul>`
        : html`<section class="blank" aria-labelledby="t-none"><${Mark} /><h2 id="t-none">No run yet</h2>
            <p>A run appears here with its start, and keeps its whole story: iterations, commands, asks, its end.</p></section>`}
    </div>
  </div>`;
}

function Story({ project, runId }) {
  const sequence = useStore((state) => state.runs.get(`${project}/${runId}`)?.sequence);
  const { run, events, low, isWhole, isBusy, problem, more } = useRun(project, runId, sequence);
  const [isAll, setIsAll] = useState(false);
  const entries = useMemo(() => entriesOf(eventsOfRun(events, runId)), [events, runId]);
  const shown = isAll ? entries : entries.slice(-SHOWN);
  const asks = entries.filter(({ event }) => event.type === "ask.opened").length;
  const turns = entries.filter(({ event }) => event.type === "run.turn_begun").length;
  const end = run?.ended_at ?? run?.updated_at;
  return html`<div class="page">
    <${Head} tab="run"><a class="push" href=${href("runs", project, runId)}>On the run board</a><//>
    <div class="page-body">
      ${run && html`<h2 class="story"><${Text} value=${run.title || run.run_id} /></h2>
        <p class="quiet"><${Text} value=${project} /> · <span class="mono"><${Text} value=${run.run_id} /></span> · ${run.status}${run.reason && html` (<${Text} value=${run.reason} />)`} ·
          began ${moment(run.started_at)}${run.ended_at ? `, took ${span(Date.parse(end) - Date.parse(run.started_at))}` : ""}</p>
        <p class="quiet">${turns} ${turns === 1 ? "iteration" : "iterations"}, ${asks} ${asks === 1 ? "ask" : "asks"}${isWhole ? "" : " as far as it was read"}</p>`}
      ${!isWhole && !isBusy && low > 0 && html`<p class="newer"><button class="btn btn-small" type="button" onClick=${more}>Read further back: ${low.toLocaleString("en-GB")} events are older</button></p>`}
      ${entries.length > shown.length && html`<p class="newer"><button class="btn btn-small" type="button" onClick=${() => setIsAll(true)}>Show ${(entries.length - shown.length).toLocaleString("en-GB")} earlier moments</button></p>`}
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
  return project && runId ? html`<${Story} key=${`${project}/${runId}`} project=${project} runId=${runId} />` : html`<${Choose} />`;
}
