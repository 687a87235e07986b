// The page's beginning: who is here, which page is shown, and what runs for as long as it is open.

import { html, render, useEffect, useState } from "/page/html.js";
import { sweepDrafts } from "/page/draft.js";
import { Frame } from "/page/frame.js";
import { Mark, Sprite } from "/page/icons.js";
import { Inbox } from "/page/inbox.js";
import { listen } from "/page/keys.js";
import { start } from "/page/live.js";
import { useNotices } from "/page/notify.js";
import { startPresence } from "/page/presence.js";
import { useRoute } from "/page/route.js";
import { Stranger } from "/page/stranger.js";
import { useStore } from "/page/store.js";

// The inbox is here at once; what else there is comes when it is wanted.
const PAGES = {
  runs: async () => (await import("/page/runs.js")).Runs,
  history: async () => (await import("/page/history.js")).History,
  numbers: async () => (await import("/page/numbers.js")).Numbers,
  settings: async () => (await import("/page/settings.js")).Settings,
  walk: async () => (await import("/page/walk.js")).WalkThrough,
};
const loaded = { inbox: Inbox };

function usePage(name) {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (loaded[name]) return;
    PAGES[name]().then(
      (page) => {
        loaded[name] = page;
        redraw((times) => times + 1);
      },
      () => setTimeout(() => redraw((times) => times + 1), 2_000), // the server is away; its being back is told elsewhere
    );
  });
  return loaded[name] ?? Waiting;
}

const Waiting = () => html`<section class="blank" aria-busy="true"><${Mark} /><h1>One moment</h1></section>`;

const AWAY = "It may have stopped. Nothing is lost: what was asked stays open. We try again by ourselves.";
const STRANGER =
  "It is not the one at which you signed in, so this page sends it nothing. If you started it yourself, open the link that it printed.";

function App() {
  const route = useRoute();
  const who = useStore((state) => state.who);
  const asks = useStore((state) => state.asks);
  const link = useStore((state) => state.link);
  const Page = usePage(route.page);
  useNotices(asks);
  useEffect(() => document.getElementById("content")?.scrollTo(0, 0), [route.page]);
  if (who === null) return html`<${Sprite} /><${Stranger} />`;
  if (who === undefined) {
    return html`<${Sprite} />
      <main class="blank" aria-busy="true">
        <${Mark} />
        <h1>${link.isOnline ? "One moment" : link.isStranger ? "Another server answers here" : "The server does not answer"}</h1>
        ${!link.isOnline && html`<p>${link.isStranger ? STRANGER : AWAY}</p>`}
      </main>`;
  }
  return html`<${Sprite} /><${Frame} route=${route}><${Page} route=${route} /><//>`;
}

sweepDrafts();
listen();
render(html`<${App} />`, document.getElementById("root"));
startPresence();
void start();
