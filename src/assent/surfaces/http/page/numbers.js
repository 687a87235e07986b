// Numbers: what the asks of today, of a week or of a month come to. The server counts; this page draws it.

import { html, useEffect, useRef, useState } from "/page/html.js";
import { get } from "/page/api.js";
import { windowName } from "/page/figures.js";
import { Mark } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { Bins, Ends, Paces, Tiles, Waits } from "/page/numbers-plots.js";
import { href } from "/page/route.js";

const DAYS = [
  [1, "Today"],
  [7, "7 days"],
  [30, "30 days"],
];
const AGAIN_MS = 3_000; // figures that change faster cannot be read
const TICK_MS = 30_000; // time goes by for what waits, too

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// The figures, and again soon after something happened to an ask. They stay until others come.
function useNumbers(days) {
  const [told, setTold] = useState({ numbers: null, problem: "" });
  const timer = useRef(0);
  useEffect(() => {
    let isHere = true;
    async function look() {
      clearTimeout(timer.current);
      timer.current = setTimeout(look, TICK_MS);
      if (document.visibilityState !== "visible") return;
      try {
        const numbers = await get("/numbers", { days, offset: -new Date().getTimezoneOffset() });
        if (isHere) setTold({ numbers, problem: "" });
      } catch (error) {
        if (isHere) setTold((before) => ({ ...before, problem: error.message }));
      }
    }
    let isSoon = false;
    const hush = onEvent(({ type }) => {
      if (!type.startsWith("ask.") || isSoon) return;
      isSoon = true;
      setTimeout(() => {
        isSoon = false;
        if (isHere) look();
      }, AGAIN_MS);
    });
    look();
    addEventListener("visibilitychange", look);
    return () => {
      isHere = false;
      hush();
      clearTimeout(timer.current);
      removeEventListener("visibilitychange", look);
    };
  }, [days]);
  return told;
}

function Nothing({ days }) {
  return html`<section class="blank" aria-labelledby="t-none">
    <${Mark} />
    <h2 id="t-none">Nothing was asked ${windowName(days)}</h2>
    <p>
      Figures appear by themselves with the first ask: how many, how fast they were answered, and how long
      agents waited.
    </p>
    ${days < 30 && html`<p><a class="btn" href=${href("numbers", 30)}>Look at 30 days</a></p>`}
  </section>`;
}

export function Numbers({ route }) {
  const days = DAYS.find(([known]) => String(known) === route.parts[0])?.[0] ?? 1;
  const { numbers, problem } = useNumbers(days);
  const isShown = numbers?.days === days;
  return html`<div class="page">
    <div class="page-head">
      <h1>Numbers</h1>
      <nav class="tabs" aria-label="Which days">
        ${DAYS.map(([each, name]) => {
          const current = each === days ? "page" : null;
          return html`<a key=${each} href=${href("numbers", each)} aria-current=${current}>${name}</a>`;
        })}
      </nav>
      <span class="quiet push">all projects, your time zone (${zone()})</span>
    </div>
    <div class="page-body" aria-busy=${isShown ? "false" : "true"}>
      ${
        problem &&
        html`<p class="notice" role="status">
          ${problem} ${numbers ? "These are the last figures that came." : ""}
        </p>`
      }
      ${
        isShown &&
        html`${
          !numbers.is_whole &&
          html`<p class="notice">There were more asks than are counted here: the oldest are left out.</p>`
        }
        ${(numbers.asks > 0 || numbers.waiting.count > 0) && html`<${Tiles} numbers=${numbers} />`}
        ${
          numbers.asks > 0
            ? html`<div class="plots">
                <${Bins} numbers=${numbers} /><${Paces} numbers=${numbers} /><${Waits}
                  numbers=${numbers}
                /><${Ends} numbers=${numbers} />
              </div>`
            : html`<${Nothing} days=${days} />`
        }`
      }
      ${!isShown && !problem && html`<p class="quiet">One moment</p>`}
    </div>
  </div>`;
}
