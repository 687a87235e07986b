// The frame around every page: where one is, what waits, who one is, and whether the server is there.

import { html, useEffect, useState } from "/page/html.js";
import { dropDraftsOf } from "/page/draft.js";
import { Help } from "/page/help.js";
import { Icon, Mark } from "/page/icons.js";
import { takeNext, useKeys, useRest } from "/page/keys.js";
import { connect } from "/page/live.js";
import { go, href } from "/page/route.js";
import { send, forget } from "/page/session.js";
import { useStore } from "/page/store.js";
import { Text } from "/page/text.js";
import { clock, span } from "/page/time.js";

const PAGES = [
  ["inbox", "Inbox"],
  ["runs", "Runs"],
  ["history", "History"],
  ["numbers", "Numbers"],
  ["settings", "Settings"],
];

// The next one at this device finds nothing of this person's: neither what was typed, nor what this page has in mind.
async function signOut(who) {
  try {
    const reply = await send("/sign-out", { method: "POST" });
    if (!reply.ok && reply.status !== 401) return;
    dropDraftsOf(who.name);
    await forget();
    location.replace("/");
  } catch {
    // the server is away, and the line above says so
  }
}

function Count({ page, waits, active }) {
  if (page === "inbox" && waits) {
    return html`<span class="count count-accent">${waits}<span class="sr"> ${waits === 1 ? "waits" : "wait"}</span></span>`;
  }
  return page === "runs" && active ? html`<span class="count">${active}<span class="sr"> active</span></span>` : null;
}

const STRANGER = "Another program answers here than the server at which you signed in.";

function Offline() {
  const { isOnline, isStranger, since, nextTry } = useStore((state) => state.link);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (isOnline) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isOnline]);
  // A cut of a moment, as a server makes that starts anew, is not worth a shift of the page.
  if (isOnline || Date.now() - since < 700) return html`<div class="link-none" role="status"></div>`;
  const wait = nextTry && nextTry > now ? `Next try in ${span(nextTry - now)}` : "Trying";
  return html`<div class="link" role="status">
    <${Icon} name="i-cut" />
    <span
      ><strong>Offline since ${clock(since)}.</strong> ${isStranger ? `${STRANGER} ` : ""}You see what was true then. Nothing is sent
      until we are back; what you type is kept.</span
    >
    <span class="quiet num" aria-hidden="true">${wait}</span>
    <button class="btn btn-small" type="button" onClick=${() => void connect()}>Try now</button>
  </div>`;
}

// Keys that do nothing say why, and how they are had back.
const WAKE = {
  "": "",
  escape: "Keys rest, as the field you typed in is gone. Press Esc and wait a second, or click anywhere.",
  quiet: "Keys act again after a second without typing.",
};

function Rest() {
  const rest = useRest();
  return html`<p class="rest" role="status" hidden=${!rest}>${WAKE[rest]}</p>`;
}

export function Frame({ route, children }) {
  const asks = useStore((state) => state.asks);
  const runs = useStore((state) => state.runs);
  const projects = useStore((state) => state.projects);
  const who = useStore((state) => state.who);
  const [isHelp, setHelp] = useState(false);
  const open = [...asks.values()].filter((ask) => ask.state === "open");
  const active = [...runs.values()].filter((run) => !run.ended_at).length;
  const only = route.page === "inbox" ? route.query.get("project") : null;
  const goTo = Object.fromEntries(PAGES.map(([page]) => [page[0], page]));
  const wait = () =>
    takeNext((name) => {
      if (goTo[name]) go(href(goTo[name]));
      return Boolean(goTo[name]);
    });
  useKeys({ "?": () => setHelp(true), g: wait });
  const link = ([page, name]) => html`<li key=${page}>
    <a href=${href(page)} aria-current=${(route.page === "walk" ? "history" : route.page) === page && !only ? "page" : null} title=${name}>
      <${Icon} name=${`i-${page}`} /><span class="name">${name}</span>
      <${Count} page=${page} waits=${open.length} active=${active} />
    </a>
  </li>`;
  return html`<a class="skip" href="#content">Skip to the content</a>
    <div class="app ${open.length ? "" : "is-empty"}" id="app">
      <header class="side">
        <a class="brand" href=${href("inbox")} title="Assent"><${Mark} /><span>Assent</span><b class="sr"> inbox</b></a>
        <nav class="nav" aria-label="Pages"><ul>${PAGES.map(link)}</ul></nav>
        ${projects.length > 1 &&
        html`<nav class="nav nav-projects" aria-label="Projects">
          <h2>Projects</h2>
          <ul>
            <li>
              <a href=${href("inbox")} aria-current=${route.page === "inbox" && !only ? "true" : null}
                ><span>All projects</span><span class="count">${open.length}</span></a
              >
            </li>
            ${projects.map((project) => {
              const count = open.filter((ask) => ask.project === project).length;
              return html`<li key=${project}>
                <a href=${`${href("inbox")}?project=${encodeURIComponent(project)}`} aria-current=${only === project ? "true" : null}
                  ><span class="nav-cut"><${Text} value=${project} /></span>${count > 0 && html`<span class="count">${count}</span>`}</a
                >
              </li>`;
            })}
          </ul>
        </nav>`}
        <div class="side-foot">
          <button class="me" type="button" onClick=${() => void signOut(who)} title=${`Sign out ${who?.name ?? ""}`}>
            <span class="face" aria-hidden="true">${(who?.name ?? "?").slice(0, 1).toUpperCase()}</span
            ><span><${Text} value=${who?.name ?? ""} />, ${who?.role}<small>Sign out</small></span>
          </button>
        </div>
      </header>
      <${Offline} />
      <main class="main" id="content" tabindex="-1">${children}</main>
      <nav class="bottom" aria-label="Pages, phone"><ul>${PAGES.map(link)}</ul></nav>
    </div>
    <${Rest} />
    <${Help} isOpen=${isHelp} onClose=${() => setHelp(false)} />`;
}
