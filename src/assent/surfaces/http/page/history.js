// History: what was asked and how it ended, the event log, and one run from its start to its end.

import { html, useEffect, useMemo, useRef, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import {
  Choice,
  EventLink,
  Head,
  Newer,
  Nothing,
  number,
  Older,
  Search,
  useSettled,
} from "/page/history-parts.js";
import { Icon } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { Log } from "/page/log.js";
import { ASSURANCE, askText, detailOf, fits, outcomeOf, tookMs, wordsIn } from "/page/past.js";
import { href } from "/page/route.js";
import { endOf, kindOf, KINDS, titleOf } from "/page/rows.js";
import { serverNow, useStore } from "/page/store.js";
import { inOption, nameOnly, Text } from "/page/text.js";
import { moment, span } from "/page/time.js";
import { Timeline } from "/page/timeline.js";

const PAGE = 50;
const SEARCH_PAGES = 10; // so many pages are searched before somebody is asked whether to go on
const ENOUGH = 25; // so many finds fill a screen
const ENDS = new Set(["ask.answered", "ask.declined", "ask.withdrawn", "ask.expired", "ask.superseded"]);

// Ended asks, the last to end first, page after page; with words to look for, until a screen is full of
// finds.
function useEnded(kind, project, text) {
  const empty = { asks: [], next: null, isBusy: true, isStarted: false, problem: "" };
  const [told, setTold] = useState(empty);
  const turn = useRef(0);
  const words = wordsIn(text);

  async function read(before, known) {
    const mine = ++turn.current;
    const path = project ? projectPath(project, "asks") : "/asks";
    let asks = known;
    let next = before;
    setTold((now) => ({ ...now, isBusy: true, problem: "" }));
    try {
      for (let page = 0; page < (words.length ? SEARCH_PAGES : 1); page += 1) {
        const reply = await get(path, { state: "ended", limit: PAGE, kind: kind || null, before: next });
        if (mine !== turn.current) return;
        asks = [...asks, ...reply.asks];
        next = reply.next;
        const found = asks.slice(known.length).filter((ask) => fits(askText(ask), words));
        if (!next || found.length >= ENOUGH) break;
        setTold({ asks, next, isBusy: true, isStarted: true, problem: "" });
      }
      setTold({ asks, next, isBusy: false, isStarted: true, problem: "" });
    } catch (error) {
      if (mine === turn.current)
        setTold({ asks, next, isBusy: false, isStarted: true, problem: error.message });
    }
  }

  const start = () => {
    setTold(empty);
    read(null, []);
  };
  useEffect(() => {
    start();
    return () => (turn.current += 1);
  }, [kind, project]);
  // What was read already is searched at once; only where that does not fill a screen more is read.
  useEffect(() => {
    if (!words.length || !told.isStarted || !told.next) return;
    if (told.asks.filter((ask) => fits(askText(ask), words)).length < ENOUGH) read(told.next, told.asks);
  }, [text, told.isStarted]);
  return { ...told, start, more: () => read(told.next, told.asks) };
}

// How many have ended since the list was read: it never moves under the eye by itself.
function useNewer(kind, project, asks) {
  const [newer, setNewer] = useState(0);
  useEffect(() => setNewer(0), [asks.length ? asks[0].ask_id : "", kind, project]);
  useEffect(
    () =>
      onEvent(
        (event) =>
          ENDS.has(event.type) && (!project || event.project === project) && setNewer((count) => count + 1),
      ),
    [project],
  );
  return [newer, () => setNewer(0)];
}

const assuranceNote = (end) => [ASSURANCE[end.assurance], end.is_unattended && "unattended"].filter(Boolean).join(", ");

function Row({ ask }) {
  const end = endOf(ask);
  const [icon, word] = outcomeOf(ask);
  const detail = detailOf(ask);
  // A template drops the space at a line's end, so what stands beside other words is put together here.
  const run =
    ask.run_id &&
    html`${" · "}<a href=${href("history", "run", ask.project, ask.run_id)}
        ><${Text} value=${`run ${ask.run_id}`}
      /></a>`;
  const isNobody = ask.state === "expired" || !end.by;
  return html`<tr>
    <td data-th="When"><time datetime=${end.at}>${moment(end.at, serverNow())}</time></td>
    <td class="what">
      <a href=${href("inbox", ask.project, ask.ask_id)}><${Text} value=${titleOf(ask)} /></a>
      <small>${kindOf(ask).name} · <${Text} value=${`${ask.project} · ${ask.asker}`} />${run}</small>
    </td>
    <td data-th="Ended">
      <span>
        <span class="outcome"><${Icon} name=${icon} />${word}</span>
        ${detail && html`<small><${Text} value=${detail} /></small>`}
      </span>
    </td>
    <td data-th="Who">${isNobody ? "nobody" : html`<${Text} value=${nameOnly(end.by)} />`}</td>
    <td data-th="Via">${end.via ? html`<${Text} value=${end.via} />` : "–"}</td>
    <td data-th="Assurance">
      ${end.assurance ? html`<span>${end.assurance}<small>${assuranceNote(end)}</small></span>` : "–"}
    </td>
    <td data-th="Took" class="r">${span(tookMs(ask))}</td>
    <td data-th="Event" class="r">
      <${EventLink} project=${ask.project} sequence=${ask.sequence} />
    </td>
  </tr>`;
}

const None = ({ isFiltered }) =>
  isFiltered
    ? html`<${Nothing} title="Nothing fits">Other words, or all kinds and projects, may find it.<//>`
    : html`<${Nothing} title="Nothing has ended yet">
        What you answer, decline or let go appears here, with who, when and how.
      <//>`;

function Answers({ route }) {
  const projects = useStore((state) => state.projects);
  const [kind, setKind] = useState("");
  const [project, setProject] = useState(route.query.get("project") ?? "");
  const [typed, setTyped] = useState("");
  const text = useSettled(typed);
  const words = wordsIn(text);
  const { asks, next, isBusy, isStarted, problem, start, more } = useEnded(kind, project, text);
  const [newer, forget] = useNewer(kind, project, asks);
  const found = useMemo(() => asks.filter((ask) => fits(askText(ask), words)), [asks, text]);
  const isFiltered = Boolean(kind || project || words.length);
  const [searching, end] = [words.length ? "Search" : "Load", next ? "" : ", which is all"];
  const isOver = isStarted && !isBusy && !problem && !next;
  const refresh = () => {
    forget();
    start();
  };
  const kinds = Object.entries(KINDS).filter(([each]) => each !== "round");
  return html`<div class="page">
    <${Head} tab="answers">
      <div class="picks push">
        <${Choice}
          label="Kind"
          value=${kind}
          onChange=${setKind}
          options=${[["", "All kinds"], ...kinds.map(([each, { name }]) => [each, name])]}
        />
        <${Choice}
          label="Project"
          value=${project}
          onChange=${setProject}
          options=${[["", "All projects"], ...projects.map((each) => [each, inOption(each)])]}
        />
        <${Search}
          value=${typed}
          onInput=${setTyped}
          placeholder="Who, what, digest, run…"
          label="Search the history"
        />
      </div>
    <//>
    <div class="page-body">
      ${newer > 0 && html`<${Newer} onClick=${refresh}>${number(newer)} newer: show<//>`}
      ${
        found.length > 0 &&
        html`<div class="tablewrap" tabindex="0" role="region" aria-label="Asks that have ended">
          <table class="table history">
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Ask</th>
                <th scope="col">How it ended</th>
                <th scope="col">Who</th>
                <th scope="col">Via</th>
                <th scope="col">Assurance</th>
                <th scope="col" class="r">Took</th>
                <th scope="col" class="r">Event</th>
              </tr>
            </thead>
            <tbody>
              ${found.map((ask) => html`<${Row} key=${ask.ask_id} ask=${ask} />`)}
            </tbody>
          </table>
        </div>`
      }
      ${isOver && !found.length && html`<${None} isFiltered=${isFiltered} />`}
      <div class="reach" role="status">
        ${problem && html`<span class="notice">${problem}</span>`}
        ${
          isStarted &&
          words.length > 0 &&
          html`<span>${number(found.length)} found in the last ${number(asks.length)}${end}.</span>`
        }
        ${isBusy && html`<span>${words.length ? "Searching…" : "One moment"}</span>`}
      </div>
      ${(next || problem) && !isBusy && html`<${Older} onClick=${more}>${searching} older ones<//>`}
    </div>
  </div>`;
}

export function History({ route }) {
  const [tab] = route.parts;
  if (tab === "log") return html`<${Log} route=${route} />`;
  if (tab === "run") return html`<${Timeline} route=${route} />`;
  return html`<${Answers} route=${route} />`;
}
