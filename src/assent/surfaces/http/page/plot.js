// Plots, drawn to the width that there is, so that text has its real size on every screen. What differs,
// differs in pattern or shape, never in colour alone. Behind each stands a table with the same figures.

import { html, useLayoutEffect, useRef, useState } from "/page/html.js";
import { countTicks, fit, timeScale } from "/page/figures.js";

const NARROW_REM = 26; // below it, a bar's name stands above the bar
const PARTS = ["one", "two", "none"];

// The width of an element, and of a letter's em there: plots grow with the reader's own text size.
function useSize() {
  const place = useRef();
  const [size, setSize] = useState(null);
  useLayoutEffect(() => {
    const look = () => {
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
      setSize((before) => {
        const width = Math.floor(place.current.clientWidth);
        return before?.width === width && before.rem === rem ? before : { width, rem };
      });
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, size];
}

export function Plot({ id, title, sentence, label, legend, head, rows, draw }) {
  const [place, size] = useSize();
  const drawn = size && size.width > 0 ? draw(size) : null;
  return html`<section class="plot" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    <p>${sentence}</p>
    <div class="plot-place" ref=${place}>
      ${
        drawn &&
        html`<svg
          class="drawn"
          viewBox="0 0 ${size.width} ${drawn.height}"
          width=${size.width}
          height=${drawn.height}
          role="img"
          aria-label=${label}
        >
          ${drawn.marks}
        </svg>`
      }
    </div>
    ${
      legend &&
      html`<ul class="legend">
        ${legend.map(([shape, name]) => html`<li key=${name}><${Shape} name=${shape} />${name}</li>`)}
      </ul>`
    }
    <details>
      <summary>As a table</summary>
      <table class="figures">
        <caption class="sr">
          ${title}
        </caption>
        <thead>
          <tr>
            ${head.map((name, at) => html`<th scope="col" class=${at ? "r" : ""}>${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([name, ...cells]) =>
              html`<tr>
                <th scope="row">${name}</th>
                ${cells.map((cell) => html`<td class="r">${cell}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </details>
  </section>`;
}

function Shape({ name }) {
  const mark = {
    mid: html`<circle class="mid" cx="7" cy="7" r="5.5" />`,
    far: html`<circle class="far" cx="7" cy="7" r="4.5" />`,
  }[name];
  return html`<svg viewBox="0 0 14 14" aria-hidden="true">
    ${mark ?? html`<rect class=${name} x="1" y="1" width="12" height="12" />`}
  </svg>`;
}

// Bars that stand, one for each of `bars`: { name, parts: [solid, hatched, empty] }.
export function standing(bars) {
  return ({ width, rem }) => {
    const most = Math.max(1, ...bars.map((bar) => bar.parts.reduce((sum, part) => sum + part, 0)));
    const ticks = countTicks(most);
    const left = rem * (0.9 + 0.45 * String(ticks.at(-1)).length);
    const [top, bottom, tall] = [0.75 * rem, 1.6 * rem, 8 * rem];
    const y = (value) => top + tall * (1 - value / ticks.at(-1));
    const step = (width - left) / bars.length;
    const thick = Math.max(1, Math.min(step - 2, step * 0.72, 3 * rem));
    const longest = Math.max(...bars.map((bar) => bar.name.length));
    const every = Math.max(1, Math.ceil((longest * 0.42 * rem + 0.5 * rem) / step));
    const marks = [
      ...ticks.map(
        (tick) =>
          html`<line class=${tick ? "grid" : "axis"} x1=${left} x2=${width} y1=${y(tick)} y2=${y(tick)} />
            <text x=${left - 0.45 * rem} y=${y(tick) + 0.24 * rem} text-anchor="end">${tick}</text>`,
      ),
      ...bars.map((bar, at) => {
        const middle = left + step * (at + 0.5);
        let below = 0;
        const boxes = bar.parts.map((part, index) => {
          if (!part) return null;
          const box = html`<rect
            class=${PARTS[index]}
            x=${middle - thick / 2}
            y=${y(below + part)}
            width=${thick}
            height=${y(below) - y(below + part)}
          />`;
          below += part;
          return box;
        });
        // Counted from the last one, which is now.
        const isNamed = (bars.length - 1 - at) % every === 0;
        const low = top + tall + 1.15 * rem;
        const name = isNamed && html`<text x=${middle} y=${low} text-anchor="middle">${bar.name}</text>`;
        return html`${boxes}${name}`;
      }),
    ];
    return { height: top + tall + bottom, marks };
  };
}

// Where a row's name stands, and how much room is left for its bar.
function rowsIn({ width, rem }, count) {
  const isNarrow = width < NARROW_REM * rem;
  const tall = (isNarrow ? 2.6 : 1.8) * rem;
  return {
    left: isNarrow ? 0 : Math.min(9.5 * rem, 0.32 * width),
    height: count * tall,
    name: (text, at) => {
      const room = isNarrow ? width : Math.min(9.5 * rem, 0.32 * width) - 0.75 * rem;
      return html`<text class="name" x="0" y=${at * tall + (isNarrow ? 0.9 : 1.2) * rem}
        >${fit(text, room, 0.44 * rem)}</text
      >`;
    },
    top: (at) => at * tall + (isNarrow ? 1.35 : 0.45) * rem,
  };
}

// Bars that lie, one for each of `bars`: { name, parts, value }; the value stands behind its bar.
export function lying(bars) {
  return (size) => {
    const { width, rem } = size;
    const rows = rowsIn(size, bars.length);
    const longest = Math.max(...bars.map((bar) => bar.value.length));
    const room = Math.max(2 * rem, width - rows.left - (0.42 * longest + 0.8) * rem);
    const most = Math.max(...bars.map((bar) => bar.parts.reduce((sum, part) => sum + part, 0))) || 1;
    const marks = bars.map((bar, at) => {
      let x = rows.left;
      const boxes = bar.parts.map((part, index) => {
        if (!part) return null;
        const wide = Math.max(2, (part / most) * room - 2);
        const box = html`<rect
          class=${PARTS[index]}
          x=${x + 0.5}
          y=${rows.top(at)}
          width=${wide}
          height=${rem}
        />`;
        x += wide + 2;
        return box;
      });
      return html`${rows.name(bar.name, at)}${boxes}<text
          class="val"
          x=${x + 0.4 * rem}
          y=${rows.top(at) + 0.78 * rem}
          >${bar.value}</text
        >`;
    });
    return { height: rows.height + 0.25 * rem, marks };
  };
}

// From one moment to another on a scale of times, for each of `ranges`: { name, from, to } in seconds.
export function ranging(ranges) {
  return (size) => {
    const { width, rem } = size;
    const rows = rowsIn(size, ranges.length);
    const scale = timeScale(
      Math.min(...ranges.map((range) => range.from)),
      Math.max(...ranges.map((range) => range.to)),
    );
    const [left, right] = [rows.left + rem, width - 1.75 * rem];
    const x = (value) => left + scale.at(value) * (right - left);
    const far = 2.6 * rem; // two names of ticks want at least this between them
    const low = rows.height + 1.1 * rem;
    let last = -Infinity;
    const ticks = scale.ticks.map((tick) => {
      const at = left + tick.at * (right - left);
      const isNamed = at - last >= far;
      if (isNamed) last = at;
      return html`<line class="grid" x1=${at} x2=${at} y1=${0.25 * rem} y2=${rows.height} />
        ${isNamed && html`<text x=${at} y=${low} text-anchor="middle">${tick.name}</text>`}`;
    });
    const marks = ranges.map((range, at) => {
      const y = rows.top(at) + 0.5 * rem;
      return html`${rows.name(range.name, at)}
        <line class="range" x1=${x(range.from)} x2=${x(range.to)} y1=${y} y2=${y} />
        <circle class="far" cx=${x(range.to)} cy=${y} r=${0.3 * rem} />
        <circle class="mid" cx=${x(range.from)} cy=${y} r=${0.4 * rem} />`;
    });
    return { height: rows.height + 1.5 * rem, marks: [...ticks, ...marks] };
  };
}
