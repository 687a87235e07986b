// The run board: every run of every project that this person reaches, and one of them in full.

import { get } from "/page/api.js";
import { html, useEffect, useMemo, useState } from "/page/html.js";
import { Icon, Mark } from "/page/icons.js";
import { useKeys } from "/page/keys.js";
import { go, href, replace } from "/page/route.js";
import { RunCard } from "/page/run.js";
import { bottomOf, meter, modelOf, nameOf, order, progress, rowWords, STATES, stateOf } from "/page/run-words.js";
import { runKey, takeRuns, useNow, useStore } from "/page/store.js";
import { Text } from "/page/text.js";

const WIDE = matchMedia("(min-width: 52.01rem)");
const LOOK_MS = 5_000; // a driver that dies says nothing: only a look tells
const SHOWN_ENDED = 30;
const NO_ASKS = [];

const runHref = (run) => href("runs", run.project, run.run_id);

function Meter({ level, isPausing }) {
  const { done, open } = meter(level, isPausing);
  return html`<svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" width="100" height="4" /><rect class="fill" width=${done} height="4" />
    ${open > 0 && html`<rect class="open" x=${Math.min(done, 100 - open)} width=${open} height="4" />`}
  </svg>`;
}

function Row({ run, asks, now, isCurrent }) {
  const kind = stateOf(run, now);
  const state = STATES[kind] ?? STATES.running;
  const words = rowWords(run, asks, now);
  // The same drawing as long as nothing of it is another.
  return useMemo(
    () => html`<a
      class="run"
      href=${runHref(run)}
      aria-current=${isCurrent ? "true" : null}
      data-run=${run.run_id}
      data-state=${kind}
    >
      <${Icon} name=${state.icon} />
      <span class="run-name"><${Text} value=${nameOf(run)} /></span>
      <span class="tag ${state.tag}">${state.name}</span>
      <span class="run-sub">
        <span><${Text} value=${run.project} /></span>
        <span class="num">${progress(bottomOf(run))}</span>
        ${modelOf(run) && html`<span><${Text} value=${modelOf(run)} /></span>`}
        ${words && html`<span class="run-last"><${Text} value=${words} /></span>`}
      </span>
      ${!run.ended_at && html`<${Meter} level=${bottomOf(run)} isPausing=${kind === "pausing"} />`}
    </a>`,
    [run, isCurrent, kind, words],
  );
}

function List({ groups, asksOf, currentKey, onlyProject }) {
  const now = useNow();
  const [isWhole, setWhole] = useState(false);
  const ended = isWhole ? groups.ended : groups.ended.slice(0, SHOWN_ENDED);
  const count = groups.active.length;
  const draw = (runs) => html`<ul>
    ${runs.map(
      (run) => html`<li key=${runKey(run)}>
        <${Row} run=${run} asks=${asksOf(run)} now=${now} isCurrent=${runKey(run) === currentKey} />
      </li>`,
    )}
  </ul>`;
  return html`<section class="list" aria-label="Runs">
    <div class="list-head">
      <div class="list-title">
        <p aria-hidden="true">Runs</p>
        <span class="quiet">${count ? `${count} active` : "none active"}</span>
        <span class="label">${onlyProject ? html`<${Text} value=${onlyProject} />` : "all projects"}</span>
      </div>
    </div>
    <div class="rows">
      ${count > 0 && draw(groups.active)}
      ${ended.length > 0 && html`<h2>Finished</h2>${draw(ended)}`}
      ${groups.ended.length > ended.length &&
      html`<p class="rows-none">
        <button type="button" class="btn btn-small" onClick=${() => setWhole(true)}>Show all ${groups.ended.length}</button>
      </p>`}
    </div>
    <p class="list-foot" aria-hidden="true">
      <span><kbd class="key">j</kbd> <kbd class="key">k</kbd> move</span>
      <span><kbd class="key">p</kbd> <kbd class="key">r</kbd> pause, resume</span>
      <span><kbd class="key">?</kbd> all keys</span>
    </p>
  </section>`;
}

function Blank({ isLoaded }) {
  if (!isLoaded) return html`<section class="blank" aria-busy="true"><${Mark} /><h2>One moment</h2></section>`;
  return html`<section class="blank" aria-labelledby="t-none">
    <${Mark} />
    <h2 id="t-none">No run yet</h2>
    <p>
      A run appears here by itself as soon as an agent’s loop begins. It can then be paused, resumed, escalated and
      cancelled.
    </p>
    <p class="label">Any command can be one: <code>assent loop --max 5 -- claude -p</code></p>
  </section>`;
}

// Whose driver is gone is told by no event, so the board looks now and then while somebody sees it.
function useLooks() {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      get("/runs", { active: true }).then(
        ({ runs }) => takeRuns(runs),
        () => undefined, // the page says by itself that the server is away
      );
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
}

// Open asks by the run that waits for them.
function useAsksOf() {
  const asks = useStore((state) => state.asks);
  const byRun = useMemo(() => {
    const found = new Map();
    for (const ask of asks.values()) {
      if (ask.state !== "open" || !ask.run_id) continue;
      const key = runKey(ask);
      found.set(key, [...(found.get(key) ?? []), ask]);
    }
    return found;
  }, [asks]);
  return (run) => byRun.get(runKey(run)) ?? NO_ASKS;
}

export function Runs({ route }) {
  const known = useStore((state) => state.runs);
  const isLoaded = useStore((state) => state.isLoaded);
  const asksOf = useAsksOf();
  useLooks();
  const onlyProject = route.query.get("project");
  const [project, runId] = onlyProject ? [] : route.parts;
  const groups = useMemo(
    () => order([...known.values()].filter((run) => !onlyProject || run.project === onlyProject)),
    [known, onlyProject],
  );
  const shown = [...groups.active, ...groups.ended];
  const currentKey = runId ? runKey({ project, run_id: runId }) : "";
  const current = known.get(currentKey);

  // On a wide screen the first run is open from the start; on a phone the list is a page of its own.
  const first = shown[0];
  useEffect(() => {
    if (!runId && first && WIDE.matches && isLoaded && !onlyProject) replace(runHref(first));
  }, [runId, first && runKey(first), isLoaded, onlyProject]);

  const step = (by) => {
    const at = shown.findIndex((run) => runKey(run) === currentKey);
    const to = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))];
    if (to) go(runHref(to));
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Escape: () => (WIDE.matches ? undefined : go(href("runs"))),
  });

  return html`<div class="runs" data-pane=${runId ? "detail" : "list"}>
    <h1 class="sr">Runs</h1>
    ${shown.length > 0 &&
    html`<${List} groups=${groups} asksOf=${asksOf} currentKey=${currentKey} onlyProject=${onlyProject} />`}
    <section class="detail ${shown.length ? "" : "detail-alone"}" id="detail" aria-label="The run" tabindex="0">
      ${runId
        ? html`<${RunCard}
            project=${project}
            runId=${runId}
            run=${current}
            asks=${current ? asksOf(current) : NO_ASKS}
            isLoaded=${isLoaded}
          />`
        : html`<${Blank} isLoaded=${isLoaded} />`}
    </section>
  </div>`;
}
