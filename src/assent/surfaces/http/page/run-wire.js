// The commands to a run, with their REQUEST, ACK and RESULT, as the log has them: what was asked, received, and came of it.

import { get, projectPath } from "/page/api.js";
import { html, useEffect, useState } from "/page/html.js";
import { onEvent } from "/page/live.js";
import {
  after,
  CONTROL_TOPIC,
  isOver,
  merge,
  ofEvent,
  ofMessage,
  SHOWN_REQUESTS,
  talks,
  wordsOf,
} from "/page/run-control.js";
import { bottomOf } from "/page/run-words.js";
import { nameOnly, Text } from "/page/text.js";
import { clock } from "/page/time.js";

const PAGE = 10_000; // as many as the server tells at once
const MOST_PAGES = 5;
const ASK_AGAIN_MS = 3_000;

// All of the topic since the run began; what happens meanwhile is heard, and each message counts once.
export function useLines(run) {
  const [lines, setLines] = useState([]);
  useEffect(() => {
    let [isGone, timer] = [false, 0];
    const path = projectPath(run.project, "topics", CONTROL_TOPIC);
    const read = async (cursor, pages) => {
      try {
        const { messages } = await get(path, { after: cursor, limit: PAGE });
        if (isGone) return;
        setLines((known) => merge(known, messages.map(ofMessage)));
        if (messages.length === PAGE && pages > 1) await read(messages.at(-1).sequence, pages - 1);
      } catch {
        if (!isGone) timer = setTimeout(() => read(cursor, pages), ASK_AGAIN_MS);
      }
    };
    const forget = onEvent((event) => {
      if (event.project === run.project && event.type.startsWith("control.")) {
        setLines((known) => merge(known, [ofEvent(event)]));
      }
    });
    setLines([]);
    read(bottomOf(run).number, MOST_PAGES);
    return () => {
      isGone = true;
      clearTimeout(timer);
      forget();
    };
  }, [run.project, run.run_id]);
  return lines;
}

const exact = (iso) => `${clock(iso)}.${String(new Date(iso).getMilliseconds()).padStart(3, "0")}`;

function Said({ each, extra }) {
  const { words, code, more } = wordsOf(each);
  return html`<span>
    <${Text} value=${words} />${code && html` <code><${Text} value=${code} /></code>`}
    ${more && html`: <${Text} value=${more} />`}${extra}
  </span>`;
}

function Talk({ talk, own }) {
  const { request, replies } = talk;
  const from = own.has(request.requestId) ? " from this page" : "";
  return html`<li class="talk">
    <ol class="wire">
      <li>
        <b>REQUEST</b><time datetime=${request.at}>${exact(request.at)}</time>
        <${Said} each=${request} extra=${html`, by <${Text} value=${nameOnly(request.by)} />${from}`} />
      </li>
      ${replies.map(
        (each) => html`<li key=${each.sequence} class=${each.type === "ACK" ? "" : "end"}>
          <b>${each.type}</b><time datetime=${each.at}>${after(request.at, each.at)}</time><${Said} each=${each} />
        </li>`,
      )}
      ${!isOver(talk) &&
      html`<li class="end waits"><b aria-hidden="true">…</b><time></time><span>no RESULT yet</span></li>`}
    </ol>
  </li>`;
}

export function RunWire({ run, lines, own }) {
  const all = talks(lines, run.run_id);
  const shown = all.slice(0, SHOWN_REQUESTS);
  return html`<section class="sect half" aria-labelledby="t-wire">
    <h3 id="t-wire">Commands <span class="quiet">what was asked, received, and came of it</span></h3>
    ${shown.length
      ? html`<ol class="talks" id="wire">
          ${shown.map((talk) => html`<${Talk} key=${talk.key} talk=${talk} own=${own} />`)}
        </ol>`
      : html`<p class="quiet">Nobody has steered this run.</p>`}
    ${all.length > shown.length && html`<p class="label">and ${all.length - shown.length} earlier</p>`}
  </section>`;
}
