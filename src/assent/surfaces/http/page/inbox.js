// The inbox: what waits on the left, the ask that is open on the right.
//
// Rule: nothing moves under the hand. New asks add rows and change counts; the row that is selected and the card that is
// open stay where they are.

import { html, useEffect, useMemo, useRef, useState } from "/page/html.js";
import { Card } from "/page/card.js";
import { readDraft } from "/page/draft.js";
import { Icon, Mark } from "/page/icons.js";
import { useKeys } from "/page/keys.js";
import { othersAt } from "/page/presence.js";
import { askHref, go, href, parse, replace } from "/page/route.js";
import { countKinds, endOf, kindOf, KINDS, matches, order, parseFilter, THEN, titleOf, toggleWord } from "/page/rows.js";
import { useStillRows } from "/page/still-rows.js";
import { useNow, useStore } from "/page/store.js";
import { nameOnly, Text } from "/page/text.js";
import { age, clock, left } from "/page/time.js";

const WIDE = matchMedia("(min-width: 52.01rem)");
const LIST_TICK_MS = 10_000;

function Row({ ask, isCurrent, now, others, hasDraft }) {
  const kind = kindOf(ask);
  const address = askHref(ask);
  const ageText = age(ask.opened_at, now);
  const due = ask.deadline ? left(ask.deadline, now) : "";
  // The same drawing as long as nothing of it is another: 500 rows must not be drawn for one that is new.
  return useMemo(
    () => html`<a class="row" href=${address} aria-current=${isCurrent ? "true" : null} data-ask=${ask.ask_id}>
      <${Icon} name=${kind.icon} />
      <span class="row-top"><b>${kind.name}</b> · <${Text} value=${ask.project} /></span>
      <time class="row-age" datetime=${ask.opened_at}>${ageText}</time>
      <span class="row-title"><${Text} value=${titleOf(ask)} /></span>
      <span class="row-foot">
        ${due && html`<span class="flag flag-due"><${Icon} name="i-clock" />${due}, ${THEN[ask.consequence]}</span>`}
        ${hasDraft && html`<span class="flag"><${Icon} name="i-pen" />your draft</span>`}
        ${others && html`<span class="flag"><${Icon} name="i-eye" /><${Text} value=${others} /></span>`}
        ${!due && html`<span><${Text} value=${ask.asker} /></span>`}
        ${ask.is_asker_gone && html`<span class="flag"><${Icon} name="i-cut" />asker has ended</span>`}
        ${ask.is_undelivered && html`<span class="flag flag-due"><${Icon} name="i-alert" />shown nowhere else</span>`}
      </span>
    </a>`,
    [ask, address, isCurrent, ageText, due, others, hasDraft],
  );
}

const ENDED = {
  answered: ["i-tick", (ask) => `${nameOnly(ask.answer.by)} answered`],
  declined: ["i-no", (ask) => `${nameOnly(ask.outcome.by)} declined`],
  withdrawn: ["i-undo", () => "Taken back by the asker"],
  expired: ["i-clock", (ask) => (ask.consequence === "end-run" ? "Expired, the run ended" : "Expired, counts as no")],
  superseded: ["i-split", () => "Asked anew"],
};

function EndedRow({ ask, isCurrent }) {
  const [icon, say] = ENDED[ask.state];
  const address = askHref(ask);
  return useMemo(
    () => html`<a class="row row-ended" href=${address} aria-current=${isCurrent ? "true" : null} data-ask=${ask.ask_id}>
      <${Icon} name=${icon} />
      <span class="row-top"><${Text} value=${say(ask)} /> · <${Text} value=${ask.project} /></span>
      <time class="row-age" datetime=${endOf(ask).at}>${clock(endOf(ask).at)}</time>
      <span class="row-title"><${Text} value=${titleOf(ask)} /></span>
    </a>`,
    [ask, address, isCurrent],
  );
}

function List({ groups, currentId, filter, setFilter, kinds, waits, isFiltered }) {
  const now = useNow(LIST_TICK_MS);
  const presence = useStore((state) => state.presence);
  const who = useStore((state) => state.who);
  const rows = useRef();
  useStillRows(rows, currentId, !groups.ended.some((ask) => ask.ask_id === currentId));
  const draw = (asks) => html`<ul>
    ${asks.map(
      (ask) => html`<li key=${ask.ask_id}>
        <${Row}
          ask=${ask}
          isCurrent=${ask.ask_id === currentId}
          now=${now}
          others=${othersAt(ask, presence, who)}
          hasDraft=${Boolean(readDraft(ask.ask_id, who?.name))}
        />
      </li>`,
    )}
  </ul>`;
  return html`<section class="list" aria-label="What waits">
    <div class="list-head">
      <div class="list-title">
        <p aria-hidden="true">Inbox</p>
        <span class="quiet">${waits ? `${waits} ${waits === 1 ? "waits" : "wait"}` : "nothing waits"}</span>
        <span class="label">urgent, then newest</span>
      </div>
      <label class="search">
        <span class="sr">Filter by words, project, kind, asker or run</span>
        <${Icon} name="i-search" />
        <input
          class="field"
          type="search"
          id="filter"
          placeholder="Filter: edge-infra, gate, asker:coder…"
          autocomplete="off"
          value=${filter}
          onInput=${(event) => setFilter(event.target.value)}
        />
        <kbd class="key" aria-hidden="true">/</kbd>
      </label>
      ${kinds.length > 1 &&
      html`<div class="kinds" role="group" aria-label="Show one kind">
        ${kinds.map(([kind, count]) => {
          const word = `kind:${kind.replace("_", "-")}`;
          return html`<button
            type="button"
            class="kind"
            key=${kind}
            aria-pressed=${filter.split(/\s+/).includes(word) ? "true" : "false"}
            onClick=${() => setFilter(toggleWord(filter, word))}
            title=${KINDS[kind].name}
          >
            <${Icon} name=${KINDS[kind].icon} /><span class="sr">${KINDS[kind].name}</span>${count}
          </button>`;
        })}
      </div>`}
    </div>
    <div class="rows" ref=${rows}>
      <div>
        ${groups.urgent.length > 0 && html`<h2>Time runs</h2>${draw(groups.urgent)}`}
        ${groups.calm.length > 0 && html`<h2>${groups.urgent.length ? "No hurry" : "Waiting"}</h2>${draw(groups.calm)}`}
        ${isFiltered &&
        !groups.urgent.length &&
        !groups.calm.length &&
        html`<p class="rows-none">Nothing that waits fits this filter.
          <button type="button" class="btn btn-small" onClick=${() => setFilter("")}>Show all</button></p>`}
        ${groups.ended.length > 0 &&
        html`<h2>Ended while you were here</h2>
          <ul>
            ${groups.ended.map(
              (ask) => html`<li key=${ask.ask_id}><${EndedRow} ask=${ask} isCurrent=${ask.ask_id === currentId} /></li>`,
            )}
          </ul>`}
      </div>
    </div>
    <p class="list-foot" aria-hidden="true">
      <span><kbd class="key">j</kbd> <kbd class="key">k</kbd> move</span><span><kbd class="key">A</kbd> mark</span
      ><span><kbd class="key">Enter</kbd> send</span><span><kbd class="key">?</kbd> all keys</span>
    </p>
  </section>`;
}

function Blank({ isLoaded, runs }) {
  if (!isLoaded) return html`<section class="blank" aria-busy="true"><${Mark} /><h2>One moment</h2></section>`;
  const active = [...runs.values()].filter((run) => !run.ended_at).length;
  return html`<section class="blank" aria-labelledby="t-empty">
    <${Mark} />
    <h2 id="t-empty">Nothing waits for you</h2>
    <p>
      ${active ? `${active} ${active === 1 ? "run is" : "runs are"} working. ` : ""}A new ask appears here by itself, and
      changes the count in the tab.
    </p>
    ${active > 0 && html`<p><a class="btn" href=${href("runs")}>Look at the runs</a></p>`}
    <p class="label">No agent connected yet? <code>assent ask "Does it work?"</code></p>
  </section>`;
}

export function Inbox({ route }) {
  const asks = useStore((state) => state.asks);
  const runs = useStore((state) => state.runs);
  const isLoaded = useStore((state) => state.isLoaded);
  const [filter, setFilter] = useState("");
  const onlyProject = route.query.get("project");
  const [project, askId] = route.parts;
  const all = useMemo(() => [...asks.values()].filter((ask) => !onlyProject || ask.project === onlyProject), [asks, onlyProject]);
  const groups = useMemo(() => {
    const wanted = parseFilter(filter);
    // The card that is open keeps its row, whatever is typed.
    return order(all.filter((ask) => ask.ask_id === askId || matches(ask, wanted)));
  }, [all, filter, askId]);
  const waits = all.filter((ask) => ask.state === "open").length;
  const open = [...groups.urgent, ...groups.calm];
  const shown = [...open, ...groups.ended];

  // On a wide screen the first ask is open from the start; on a phone the list is a page of its own.
  const first = open[0];
  useEffect(() => {
    if (!askId && first && WIDE.matches && isLoaded) replace(askHref(first));
  }, [askId, first?.ask_id, isLoaded]);

  const next = nextAfter(open, askId);
  const step = (by) => {
    // By the address, which is ahead of the drawing when a key follows on another's heels.
    const [, hereId] = parse(location.hash).parts;
    const at = shown.findIndex((ask) => ask.ask_id === hereId);
    const to = at < 0 ? (next ?? shown[0]) : shown[Math.min(shown.length - 1, Math.max(0, at + by))];
    if (to) go(askHref(to));
  };
  const oldest = () => {
    const found = [...open].sort((a, b) => Date.parse(a.opened_at) - Date.parse(b.opened_at))[0];
    if (found) go(askHref(found));
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    o: oldest,
    "/": () => document.getElementById("filter")?.focus(),
    Escape: () => (WIDE.matches ? undefined : go(href("inbox"))),
  });

  return html`<div class="inbox" data-pane=${askId ? "detail" : "list"}>
    <h1 class="sr">Inbox</h1>
    <${List}
      groups=${groups}
      currentId=${askId}
      filter=${filter}
      setFilter=${setFilter}
      kinds=${countKinds(all)}
      waits=${waits}
      isFiltered=${filter !== ""}
    />
    <section class="detail" id="detail" aria-label="The ask" tabindex="0">
      ${askId
        ? html`<${Card} key=${askId} project=${project} askId=${askId} next=${next} />`
        : html`<${Blank} isLoaded=${isLoaded} runs=${runs} />`}
    </section>
  </div>`;
}

// The ask to go on with: the one below, or from the top again.
function nextAfter(open, askId) {
  const at = open.findIndex((ask) => ask.ask_id === askId);
  const others = open.filter((ask) => ask.ask_id !== askId);
  return others[Math.max(0, at)] ?? others[0] ?? null;
}
