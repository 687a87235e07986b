// What the three pages of the history share: their head, a search, a choice, and the way to an event.

import { html, useEffect, useState } from "/page/html.js";
import { Icon, Mark } from "/page/icons.js";
import { href } from "/page/route.js";

const TYPING_MS = 250;
const TABS = [
  ["answers", "Answers"],
  ["log", "Event log"],
  ["run", "One run"],
];

// The number of an event, which leads to it in the log.
export function EventLink({ project, sequence }) {
  const there = `${href("history", "log", project)}?at=${sequence}`;
  return html`<a class="mono event-link" href=${there} aria-label="Event ${number(sequence)}">
    ${number(sequence)}
  </a>`;
}

export function Head({ tab, children }) {
  return html`<div class="page-head">
    <h1>History</h1>
    <nav class="tabs" aria-label="Parts of the history">
      ${TABS.map(([each, name]) => {
        const current = each === tab ? "page" : null;
        return html`<a key=${each} href=${href("history", each)} aria-current=${current}>${name}</a>`;
      })}
      <a href=${href("walk")}>Walk-throughs</a>
    </nav>
    ${children}
  </div>`;
}

export function Search({ value, onInput, placeholder, label }) {
  return html`<label class="search push">
    <span class="sr">${label}</span>
    <${Icon} name="i-search" />
    <input
      class="field"
      type="search"
      autocomplete="off"
      spellcheck="false"
      placeholder=${placeholder}
      value=${value}
      onInput=${(event) => onInput(event.target.value)}
    />
  </label>`;
}

export function Choice({ label, value, options, onChange }) {
  return html`<label class="pick"
    ><span class="sr">${label}</span>
    <select class="field" value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(
        ([each, name]) => html`<option key=${each} value=${each} selected=${each === value}>${name}</option>`,
      )}
    </select>
  </label>`;
}

// What is typed, once the typing has stopped.
export function useSettled(value) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

// Above a list: what there is more of, towards the newer end.
export const Newer = ({ onClick, children }) =>
  html`<p class="newer">
    <button class="btn btn-small" type="button" onClick=${onClick}><${Icon} name="i-up" />${children}</button>
  </p>`;

// Below a list: what there is more of, towards the older end.
export const Older = ({ onClick, children }) =>
  html`<p><button class="btn" type="button" onClick=${onClick}>${children}</button></p>`;

export const Nothing = ({ title, children }) =>
  html`<section class="blank" aria-labelledby="t-none">
    <${Mark} />
    <h2 id="t-none">${title}</h2>
    <p>${children}</p>
  </section>`;

export const number = (value) => value.toLocaleString("en-GB");
