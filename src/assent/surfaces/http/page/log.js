// The event log of a project, newest first. It is read from its end in stretches, and a search says how far
// it has read: "not found" is never said of what nobody looked at.

import { html, useEffect, useMemo, useRef, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { sayEvent } from "/page/event-words.js";
import { Choice, Head, Newer, Nothing, number, Older, Search, useSettled } from "/page/history-parts.js";
import { spell } from "/page/json.js";
import { onEvent } from "/page/live.js";
import { byDay, eventText, fits, readDown, sayReach, wordsIn } from "/page/past.js";
import { go, href } from "/page/route.js";
import { useStore } from "/page/store.js";
import { inOption, Text } from "/page/text.js";
import { clock } from "/page/time.js";

const STRETCH = 100;
const SEARCH_STRETCHES = 20;
const ENOUGH = 40;
const SHOWN_SIGNS = 20_000; // of an event's JSON, until somebody wants all of it

// The events that were read, newest first, and the number above which all are.
function useLog(project, from, text) {
  const [told, setTold] = useState({ events: [], low: null, isBusy: true, problem: "" });
  const turn = useRef(0);
  const words = wordsIn(text);
  const read = (query) => get(projectPath(project, "log"), query);

  async function down(known, start) {
    const mine = ++turn.current;
    let events = known;
    let low = start;
    setTold((now) => ({ ...now, isBusy: true, problem: "" }));
    try {
      if (low === null) {
        const { sequence } = await read0(project);
        if (mine !== turn.current) return;
        low = from === null ? sequence : Math.min(sequence, from + Math.floor(STRETCH / 2));
      }
      for (let stretch = 0; stretch < (words.length ? SEARCH_STRETCHES : 1) && low > 0; stretch += 1) {
        const high = low;
        const page = await readDown(read, Math.max(0, high - STRETCH), high);
        if (mine !== turn.current) return;
        low = Math.max(0, high - STRETCH);
        events = [...events, ...page];
        if (events.slice(known.length).filter((event) => fits(eventText(event), words)).length >= ENOUGH)
          break;
        setTold({ events, low, isBusy: true, problem: "" });
      }
      setTold({ events, low, isBusy: false, problem: "" });
    } catch (error) {
      if (mine === turn.current) setTold({ events, low, isBusy: false, problem: error.message });
    }
  }

  const start = () => {
    setTold({ events: [], low: null, isBusy: true, problem: "" });
    down([], null);
  };
  useEffect(() => {
    if (project) start();
    return () => (turn.current += 1);
  }, [project, from]);
  useEffect(() => {
    if (!words.length || told.low === null || told.low === 0) return;
    if (told.events.filter((event) => fits(eventText(event), words)).length < ENOUGH)
      down(told.events, told.low);
  }, [text, told.low === null]);
  return { ...told, start, more: () => down(told.events, told.low) };
}

const read0 = (project) => get(projectPath(project, "log", "head"));

function Json({ event }) {
  const text = useMemo(() => spell(event, "  "), [event]);
  const [isAll, setIsAll] = useState(false);
  const isCut = !isAll && text.length > SHOWN_SIGNS;
  return html`<pre
      class="json"
      tabindex="0"
      role="region"
      aria-label=${`Event ${event.sequence} as JSON`}
    ><${Text} value=${isCut ? text.slice(0, SHOWN_SIGNS) : text} lines=${true} /></pre>
    ${
      isCut &&
      html`<button class="btn btn-small" type="button" onClick=${() => setIsAll(true)}>
        Show all ${number(text.length)} characters
      </button>`
    }`;
}

function Entry({ event, isMarked }) {
  const [isOpen, setIsOpen] = useState(isMarked);
  const place = useRef();
  useEffect(() => {
    if (isMarked) place.current?.scrollIntoView({ block: "center" });
  }, [isMarked]);
  return html`<li class="event" ref=${place} data-marked=${isMarked ? "true" : null}>
    <details open=${isOpen} onToggle=${(toggled) => setIsOpen(toggled.target.open)}>
      <summary>
        <span class="event-number mono"><span class="sr">Event </span>${number(event.sequence)}</span>
        <time datetime=${event.at}>${clock(event.at)}</time>
        <b class="event-type"><${Text} value=${event.type} /></b>
        <span class="event-words"
          ><${Text} value=${sayEvent(event)} /><small class="mono"><${Text} value=${event.subject} /></small
        ></span>
      </summary>
      ${isOpen && html`<${Json} event=${event} />`}
    </details>
  </li>`;
}

function useNewer(project, events) {
  const [newer, setNewer] = useState(0);
  useEffect(() => setNewer(0), [project, events[0]?.sequence]);
  useEffect(() => onEvent((event) => event.project === project && setNewer((count) => count + 1)), [project]);
  return newer;
}

const None = ({ isSearch }) =>
  isSearch
    ? html`<${Nothing} title="Not in this log">All of it was searched.<//>`
    : html`<${Nothing} title="Nothing has happened here yet">
        Everything that happens in a project is written here, in order, and chained by its hashes.
      <//>`;

export function Log({ route }) {
  const projects = useStore((state) => state.projects);
  const project = route.parts[1] ?? projects[0] ?? "";
  const marked = Number(route.query.get("at")) || null;
  const [typed, setTyped] = useState("");
  const text = useSettled(typed);
  const words = wordsIn(text);
  const { events, low, isBusy, problem, start, more } = useLog(project, marked, text);
  const newer = useNewer(project, events);
  const found = useMemo(() => events.filter((event) => fits(eventText(event), words)), [events, text]);
  const names = projects.includes(project) || !project ? projects : [...projects, project];
  const newest = () => (marked ? go(href("history", "log", project)) : start());
  return html`<div class="page">
    <${Head} tab="log">
      <div class="picks push">
        <${Choice}
          label="Project"
          value=${project}
          onChange=${(name) => go(href("history", "log", name))}
          options=${names.map((each) => [each, inOption(each)])}
        />
        <${Search}
          value=${typed}
          onInput=${setTyped}
          placeholder="Type, subject, any word…"
          label="Search the event log"
        />
      </div>
    <//>
    <div class="page-body">
      ${
        (newer > 0 || (marked && low !== null)) &&
        html`<${Newer} onClick=${newest}>${marked ? "To the newest" : `${number(newer)} newer: show`}<//>`
      }
      ${
        found.length > 0 &&
        byDay(found).map(
          ({ name, entries }) =>
            html`<h2 class="day" key=${name}>${name}</h2>
              <ol class="events" aria-label="Events of ${name}, newest first">
                ${entries.map(
                  (event) =>
                    html`<${Entry}
                      key=${event.sequence}
                      event=${event}
                      isMarked=${event.sequence === marked}
                    />`,
                )}
              </ol>`,
        )
      }
      ${!isBusy && !found.length && low === 0 && !problem && html`<${None} isSearch=${words.length > 0} />`}
      <div class="reach" role="status">
        ${problem && html`<span class="notice">${problem}</span>`}
        ${
          events.length > 0 &&
          html`<span>${sayReach(events[0].sequence, low, words.length ? found.length : null)}</span>`
        }
        ${isBusy && project && html`<span>${words.length ? "Searching…" : "One moment"}</span>`}
        ${!project && html`<span>There is no project yet.</span>`}
      </div>
      ${
        (low > 0 || problem) &&
        !isBusy &&
        html`<${Older} onClick=${more}>${words.length ? "Search" : "Read"} older events<//>`
      }
    </div>
  </div>`;
}
