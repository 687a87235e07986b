// The event log of a project, newest first. It is read from its end in stretches, and a search says how far it has read:
// "not found" is never said of what nobody looked at.

import { html, useEffect, useMemo, useRef, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { Choice, Head, Search, useSettled } from "/page/history.js";
import { Icon, Mark } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { eventText, fits, readDown, sayEvent, wordsIn } from "/page/past.js";
import { go, href } from "/page/route.js";
import { useStore } from "/page/store.js";
import { plain, Text } from "/page/text.js";
import { moment } from "/page/time.js";

const STRETCH = 100;
const SEARCH_STRETCHES = 20;
const ENOUGH = 40;
const SHOWN_SIGNS = 20_000; // of an event's JSON, until somebody wants all of it

// The events that were read, newest first, and the number above which all are.
export function useLog(project, from, text) {
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
        if (events.slice(known.length).filter((event) => fits(eventText(event), words)).length >= ENOUGH) break;
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
    if (told.events.filter((event) => fits(eventText(event), words)).length < ENOUGH) down(told.events, told.low);
  }, [text]);
  return { ...told, start, more: () => down(told.events, told.low) };
}

const read0 = (project) => get(projectPath(project, "log", "head"));

function Json({ event }) {
  const text = useMemo(() => JSON.stringify(event, null, 2), [event]);
  const [isAll, setIsAll] = useState(false);
  const isCut = !isAll && text.length > SHOWN_SIGNS;
  return html`<pre class="json" tabindex="0" role="region" aria-label=${`Event ${event.sequence} as JSON`}><${Text} value=${isCut ? text.slice(0, SHOWN_SIGNS) : text} lines=${true} /></pre>
    ${isCut && html`<button class="btn btn-small" type="button" onClick=${() => setIsAll(true)}>Show all ${text.length.toLocaleString("en-GB")} characters</button>`}`;
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
        <span class="event-number mono"><span class="sr">Event </span>${event.sequence.toLocaleString("en-GB")}</span>
        <time datetime=${event.at}>${moment(event.at)}</time>
        <b class="event-type"><${Text} value=${event.type} /></b>
        <span class="event-words"><${Text} value=${sayEvent(event)} /><small class="mono"><${Text} value=${event.subject} /></small></span>
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
  const number = (value) => value.toLocaleString("en-GB");
  const names = projects.includes(project) || !project ? projects : [...projects, project];
  const newest = () => (marked ? go(href("history", "log", project)) : start());
  return html`<div class="page">
    <${Head} tab="log">
      <div class="picks push">
        <${Choice} label="Project" value=${project} onChange=${(name) => go(href("history", "log", name))} options=${names.map((each) => [each, plain(each)])} />
        <${Search} value=${typed} onInput=${setTyped} placeholder="Type, subject, any word…" label="Search the event log" />
      </div>
    <//>
    <div class="page-body">
      ${(newer > 0 || (marked && low !== null)) &&
      html`<p class="newer"><button class="btn btn-small" type="button" onClick=${newest}><${Icon} name="i-up" />${marked ? "To the newest" : `${newer} newer: show`}</button></p>`}
      ${found.length > 0 &&
      html`<ol class="events" aria-label="Events, newest first">
        ${found.map((event) => html`<${Entry} key=${event.sequence} event=${event} isMarked=${event.sequence === marked} />`)}
      </ol>`}
      ${!isBusy && !found.length && low === 0 && !problem &&
      html`<section class="blank" aria-labelledby="t-none"><${Mark} />
        <h2 id="t-none">${words.length ? "Not in this log" : "Nothing has happened here yet"}</h2>
        <p>${words.length ? "All of it was searched." : "Everything that happens in a project is written here, in order, and chained by its hashes."}</p>
      </section>`}
      <div class="reach" role="status">
        ${problem && html`<span class="notice">${problem}</span>`}
        ${events.length > 0 &&
        html`<span>${words.length ? `${number(found.length)} found; searched` : "Read"} ${low === 0 ? "all events" : "the events"} from ${number(events[0].sequence)} down to ${number(low + 1)}${low === 0 ? "" : `; ${number(low)} older`}.</span>`}
        ${isBusy && project && html`<span>${words.length ? "Searching…" : "One moment"}</span>`}
        ${!project && html`<span>There is no project yet.</span>`}
      </div>
      ${(low > 0 || problem) && !isBusy && html`<p><button class="btn" type="button" onClick=${more}>${words.length ? "Search older events" : "Read older events"}</button></p>`}
    </div>
  </div>`;
}
