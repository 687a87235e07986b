// The figures as tiles and as four plots, each with a sentence that is true of it.

import {
  binName,
  count,
  kindName,
  notePace,
  sayBins,
  sayEnds,
  sayPaces,
  sayWaits,
  seconds,
  sumEnds,
  sumOf,
  trimBins,
} from "/page/figures.js";
import { html } from "/page/html.js";
import { lying, Plot, ranging, standing } from "/page/plot.js";
import { serverNow } from "/page/store.js";
import { plain } from "/page/text.js";
import { span } from "/page/time.js";

export function Tiles({ numbers }) {
  const { waiting, answer_time: pace, waited_seconds: waited, asks, days, ends } = numbers;
  const { answered, declined, unanswered, open } = sumEnds(ends);
  const parts = [
    [answered, "answered"],
    [declined, "declined"],
    [unanswered, "without an answer"],
    [open, "open"],
  ];
  const tiles = [
    [
      "Waiting now",
      waiting.count.toLocaleString("en-GB"),
      waiting.count ? `oldest ${span(serverNow() - Date.parse(waiting.oldest_at))}` : "nobody waits for you",
    ],
    [
      "Median time to answer",
      seconds(pace.median_seconds),
      notePace(numbers),
    ],
    [
      "Agents waited",
      seconds(waited),
      asks ? `over ${count(asks, "ask")}, until now where they wait` : "nothing was asked",
    ],
    [
      days === 1 ? "Asked today" : `Asked in ${days} days`,
      asks.toLocaleString("en-GB"),
      parts
        .filter(([number]) => number)
        .map(([number, word]) => `${number} ${word}`)
        .join(", ") || "nothing yet",
    ],
  ];
  return html`<dl class="tiles">
    ${tiles.map(
      ([name, value, note]) =>
        html`<div key=${name}>
          <dt>${name}</dt>
          <dd>${value}<small>${note}</small></dd>
        </div>`,
    )}
  </dl>`;
}

const partsOf = (bin) => [bin.answered, bin.open, bin.unanswered];

export function Bins({ numbers }) {
  const { days } = numbers;
  const bins = trimBins(numbers.bins, days);
  const sentence = sayBins(numbers);
  const said = bins
    .filter(sumOf)
    .map((bin) => `${binName(bin, numbers, true)}: ${sumOf(bin)}`)
    .join(", ");
  return html`<${Plot}
    id="plot-asked"
    title=${days === 1 ? "Asks per hour" : "Asks per day"}
    sentence=${sentence}
    label=${`${sentence} ${said}`}
    legend=${[
      ["one", "answered or declined"],
      ["two", "still open"],
      ["none", "ended without an answer"],
    ]}
    head=${[days === 1 ? "Hour" : "Day", "Answered or declined", "Open", "Without an answer"]}
    rows=${bins.map((bin) => [binName(bin, numbers, true), ...partsOf(bin)])}
    draw=${standing(bins.map((bin) => ({ name: binName(bin, numbers), parts: partsOf(bin) })))}
  />`;
}

export function Paces({ numbers }) {
  const { paces } = numbers;
  const sentence = sayPaces(numbers);
  const said = paces.map(
    (pace) =>
      `${kindName(pace.kind)}: median ${seconds(pace.median_seconds)}, ` +
      `nine in ten within ${seconds(pace.slow_seconds)}`,
  );
  const none = () => ({ height: 1, marks: null });
  return html`<${Plot}
    id="plot-pace"
    title="Time to answer, by kind"
    sentence=${sentence}
    label=${`${sentence} ${said.join(". ")}`}
    legend=${[
      ["mid", "median"],
      ["far", "nine in ten are faster"],
    ]}
    head=${["Kind", "Answers", "Median", "Nine in ten within"]}
    rows=${paces.map(({ kind, count: answers, median_seconds: half, slow_seconds: slow }) => [
      kindName(kind),
      answers,
      seconds(half),
      seconds(slow),
    ])}
    draw=${
      paces.length
        ? ranging(
            paces.map((pace) => ({
              name: kindName(pace.kind),
              from: pace.median_seconds,
              to: pace.slow_seconds,
            })),
          )
        : none
    }
  />`;
}

export function Waits({ numbers }) {
  const { waits, rest } = numbers;
  const sentence = sayWaits(numbers, plain);
  const bars = waits.map((wait) => ({
    name: plain(wait.asker),
    parts: [wait.seconds],
    value: seconds(wait.seconds),
  }));
  if (rest)
    bars.push({
      name: count(rest.askers, "other"),
      parts: [0, 0, rest.seconds],
      value: seconds(rest.seconds),
    });
  const rows = waits.map((wait) => [plain(wait.asker), wait.asks, seconds(wait.seconds)]);
  if (rest) rows.push([count(rest.askers, "other"), rest.asks, seconds(rest.seconds)]);
  return html`<${Plot}
    id="plot-waits"
    title="Time agents spent waiting"
    sentence=${sentence}
    label=${`${sentence} ${bars.map((bar) => `${bar.name}: ${bar.value}`).join(", ")}`}
    legend=${
      rest && [
        ["one", "one asker"],
        ["none", "all others together"],
      ]
    }
    head=${["Asker", "Asks", "Waited"]}
    rows=${rows}
    draw=${lying(bars)}
  />`;
}

export function Ends({ numbers }) {
  const ends = numbers.ends.filter((each) => each.answered + each.declined + each.unanswered);
  const sentence = sayEnds(numbers);
  const words = (each) => [each.answered, each.declined, each.unanswered].join(" · ");
  const said = ends.map(
    (each) =>
      `${kindName(each.kind)}: ${each.answered} answered, ${each.declined} declined, ` +
      `${each.unanswered} without an answer`,
  );
  const none = () => ({ height: 1, marks: null });
  return html`<${Plot}
    id="plot-ends"
    title="How asks ended"
    sentence=${sentence}
    label=${`${sentence} ${said.join(". ")}`}
    legend=${[
      ["one", "answered or approved"],
      ["two", "declined or rejected"],
      ["none", "without an answer"],
    ]}
    head=${["Kind", "Answered", "Declined", "Without an answer", "Still open"]}
    rows=${numbers.ends.map(({ kind, answered, declined, unanswered, open }) => [
      kindName(kind),
      answered,
      declined,
      unanswered,
      open,
    ])}
    draw=${
      ends.length
        ? lying(
            ends.map((each) => ({
              name: kindName(each.kind),
              parts: [each.answered, each.declined, each.unanswered],
              value: words(each),
            })),
          )
        : none
    }
  />`;
}
