// Numbers: what the asks of today, of a week or of a month come to. The server counts; this page draws and says it.

import { html, useEffect, useRef, useState } from "/page/html.js";
import { get } from "/page/api.js";
import {
  binName, count, kindName, sayBins, sayEnds, sayPaces, sayWaits, seconds, sumEnds, sumOf, trimBins, windowName,
} from "/page/figures.js";
import { Mark } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { lying, Plot, ranging, standing } from "/page/plot.js";
import { href } from "/page/route.js";
import { serverNow } from "/page/store.js";
import { plain } from "/page/text.js";
import { span } from "/page/time.js";

const DAYS = [[1, "Today"], [7, "7 days"], [30, "30 days"]];
const AGAIN_MS = 3_000; // figures that change faster cannot be read
const TICK_MS = 30_000; // time goes by for what waits, too

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// The figures, and again soon after something happened to an ask. Those that are there stay until others come.
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

function Tiles({ numbers }) {
  const { waiting, answer_time: pace, waited_seconds: waited, asks, days, ends } = numbers;
  const { answered, declined, unanswered, open } = sumEnds(ends);
  const parts = [[answered, "answered"], [declined, "declined"], [unanswered, "without an answer"], [open, "open"]];
  const tiles = [
    ["Waiting now", waiting.count.toLocaleString("en-GB"),
      waiting.count ? `oldest ${span(serverNow() - Date.parse(waiting.oldest_at))}` : "nobody waits for you"],
    ["Median time to answer", seconds(pace.median_seconds),
      pace.count ? `nine in ten within ${seconds(pace.slow_seconds)}` : "no answer yet"],
    ["Agents waited", seconds(waited), asks ? `over ${count(asks, "ask")}, until now where they wait` : "nothing was asked"],
    [days === 1 ? "Asked today" : `Asked in ${days} days`, asks.toLocaleString("en-GB"),
      parts.filter(([number]) => number).map(([number, word]) => `${number} ${word}`).join(", ") || "nothing yet"],
  ];
  return html`<dl class="tiles">
    ${tiles.map(([name, value, note]) => html`<div key=${name}><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`)}
  </dl>`;
}

function Bins({ numbers }) {
  const { days } = numbers;
  const bins = trimBins(numbers.bins, days);
  const sentence = sayBins(numbers);
  const said = bins.filter(sumOf).map((bin) => `${binName(bin, numbers, true)}: ${sumOf(bin)}`).join(", ");
  return html`<${Plot}
    id="plot-asked"
    title=${days === 1 ? "Asks per hour" : "Asks per day"}
    sentence=${sentence}
    label=${`${sentence} ${said}`}
    legend=${[["one", "answered or declined"], ["two", "still open"], ["none", "ended without an answer"]]}
    head=${[days === 1 ? "Hour" : "Day", "Answered or declined", "Open", "Without an answer"]}
    rows=${bins.map((bin) => [binName(bin, numbers, true), bin.answered, bin.open, bin.unanswered])}
    draw=${standing(bins.map((bin) => ({ name: binName(bin, numbers), parts: [bin.answered, bin.open, bin.unanswered] })))}
  />`;
}

function Paces({ numbers }) {
  const { paces } = numbers;
  const sentence = sayPaces(numbers);
  const said = paces.map(
    (pace) => `${kindName(pace.kind)}: median ${seconds(pace.median_seconds)}, nine in ten within ${seconds(pace.slow_seconds)}`,
  );
  const none = () => ({ height: 1, marks: null });
  return html`<${Plot}
    id="plot-pace"
    title="Time to answer, by kind"
    sentence=${sentence}
    label=${`${sentence} ${said.join(". ")}`}
    legend=${[["mid", "median"], ["far", "nine in ten are faster"]]}
    head=${["Kind", "Answers", "Median", "Nine in ten within"]}
    rows=${paces.map((pace) => [kindName(pace.kind), pace.count, seconds(pace.median_seconds), seconds(pace.slow_seconds)])}
    draw=${paces.length
      ? ranging(paces.map((pace) => ({ name: kindName(pace.kind), from: pace.median_seconds, to: pace.slow_seconds })))
      : none}
  />`;
}

function Waits({ numbers }) {
  const { waits, rest } = numbers;
  const sentence = sayWaits(numbers, plain);
  const bars = waits.map((wait) => ({ name: plain(wait.asker), parts: [wait.seconds], value: seconds(wait.seconds) }));
  if (rest) bars.push({ name: count(rest.askers, "other"), parts: [0, 0, rest.seconds], value: seconds(rest.seconds) });
  const rows = waits.map((wait) => [plain(wait.asker), wait.asks, seconds(wait.seconds)]);
  if (rest) rows.push([count(rest.askers, "other"), rest.asks, seconds(rest.seconds)]);
  return html`<${Plot}
    id="plot-waits"
    title="Time agents spent waiting"
    sentence=${sentence}
    label=${`${sentence} ${bars.map((bar) => `${bar.name}: ${bar.value}`).join(", ")}`}
    legend=${rest && [["one", "one asker"], ["none", "all others together"]]}
    head=${["Asker", "Asks", "Waited"]}
    rows=${rows}
    draw=${lying(bars)}
  />`;
}

function Ends({ numbers }) {
  const ends = numbers.ends.filter((each) => each.answered + each.declined + each.unanswered);
  const sentence = sayEnds(numbers);
  const words = (each) => [each.answered, each.declined, each.unanswered].join(" · ");
  const said = ends.map(
    (each) => `${kindName(each.kind)}: ${each.answered} answered, ${each.declined} declined, ${each.unanswered} without an answer`,
  );
  const none = () => ({ height: 1, marks: null });
  return html`<${Plot}
    id="plot-ends"
    title="How asks ended"
    sentence=${sentence}
    label=${`${sentence} ${said.join(". ")}`}
    legend=${[["one", "answered or approved"], ["two", "declined or rejected"], ["none", "without an answer"]]}
    head=${["Kind", "Answered", "Declined", "Without an answer", "Still open"]}
    rows=${numbers.ends.map((each) => [kindName(each.kind), each.answered, each.declined, each.unanswered, each.open])}
    draw=${ends.length
      ? lying(ends.map((each) => ({ name: kindName(each.kind), parts: [each.answered, each.declined, each.unanswered], value: words(each) })))
      : none}
  />`;
}

function Nothing({ days }) {
  return html`<section class="blank" aria-labelledby="t-none">
    <${Mark} />
    <h2 id="t-none">Nothing was asked ${windowName(days)}</h2>
    <p>Figures appear by themselves with the first ask: how many, how fast they were answered, and how long agents waited.</p>
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
        ${DAYS.map(([each, name]) => html`<a key=${each} href=${href("numbers", each)} aria-current=${each === days ? "page" : null}>${name}</a>`)}
      </nav>
      <span class="quiet push">all projects, time of ${zone()}</span>
    </div>
    <div class="page-body" aria-busy=${isShown ? "false" : "true"}>
      ${problem && html`<p class="notice" role="status">${problem} ${numbers ? "These are the last figures that came." : ""}</p>`}
      ${isShown &&
      html`${!numbers.is_whole && html`<p class="notice">There were more asks than are counted here: the oldest are left out.</p>`}
        ${(numbers.asks > 0 || numbers.waiting.count > 0) && html`<${Tiles} numbers=${numbers} />`}
        ${numbers.asks > 0
          ? html`<div class="plots">
              <${Bins} numbers=${numbers} /><${Paces} numbers=${numbers} /><${Waits} numbers=${numbers} /><${Ends} numbers=${numbers} />
            </div>`
          : html`<${Nothing} days=${days} />`}`}
      ${!isShown && !problem && html`<p class="quiet">One moment</p>`}
    </div>
  </div>`;
}
