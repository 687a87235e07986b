// The live end of a run's output. It is asked for every second while somebody can see it, from where the last reply
// ended; it follows the end, unless the reader has scrolled up to read.

import { get, projectPath } from "/page/api.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { EMPTY, grow, howMuch, outputPieces } from "/page/run-output.js";
import { isEnded } from "/page/run-words.js";
import { serverNow } from "/page/store.js";
import { clock } from "/page/time.js";

const POLL_MS = 1_000;
const LAST_WORDS_MS = 10_000; // so long after its end a run may still say something
const NEAR_END = 24; // pixels that count as being at the end

// Asks again and again, one request at a time, and not while nobody looks.
function useTail(run) {
  const [tail, setTail] = useState(EMPTY);
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    let [known, isGone, isAsking, timer] = [EMPTY, false, false, 0];
    const path = projectPath(run.project, "runs", run.run_id, "output");
    const look = async () => {
      if (isAsking) return; // two replies for the same place would be put together as one behind the other
      clearTimeout(timer);
      if (document.visibilityState === "visible") {
        isAsking = true;
        try {
          const reply = await get(path, { after: known.written });
          if (isGone) return;
          known = grow(known, reply);
          setTail(known);
        } catch {
          if (isGone) return; // the page says by itself that the server is away
        } finally {
          isAsking = false;
        }
      }
      const { ended_at: endedAt } = latest.current;
      const isOver = isEnded(latest.current) && serverNow() - Date.parse(endedAt) > LAST_WORDS_MS;
      if (!isOver || known === EMPTY) timer = setTimeout(look, isOver ? 10 * POLL_MS : POLL_MS);
    };
    const wake = () => document.visibilityState === "visible" && look();
    document.addEventListener("visibilitychange", wake);
    look();
    return () => {
      isGone = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", wake);
    };
  }, [run.project, run.run_id]);
  return tail;
}

function Marked({ text }) {
  return useMemo(
    () =>
      outputPieces(text).map((piece) =>
        typeof piece === "string"
          ? piece
          : html`<span class="hostile" title="a control or hidden character, shown as a mark"
              >${piece.mark}${piece.count > 1 ? ` ×${piece.count}` : ""}</span
            >`,
      ),
    [text],
  );
}

export function RunTail({ run }) {
  const tail = useTail(run);
  const box = useRef();
  const [isFollowing, setFollowing] = useState(true);
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [tail.text, isFollowing]);
  const look = ({ target }) =>
    setFollowing(target.scrollHeight - target.scrollTop - target.clientHeight < NEAR_END);
  return html`<section class="sect" aria-labelledby="t-output">
    <div class="tail-head">
      <h3 id="t-output">
        Output <span class="quiet">agent’s own, ${howMuch(tail)}, control characters shown as marks</span>
      </h3>
      ${tail.at && html`<span class="label">last at <time datetime=${tail.at}>${clock(tail.at)}</time></span>`}
    </div>
    ${tail.text
      ? html`<div class="tail-box">
          <pre
            class="tail"
            tabindex="0"
            role="region"
            aria-label="Output of the run"
            ref=${box}
            onScroll=${look}
          ><${Marked} text=${tail.text} /></pre>
          ${!isFollowing &&
          html`<button class="btn btn-small tail-end" type="button" onClick=${() => setFollowing(true)}>
            <${Icon} name="i-down" />To the end
          </button>`}
        </div>`
      : html`<p class="tail tail-none">
          ${isEnded(run) ? "No output of this run is kept." : "What its command prints appears here as it comes."}
        </p>`}
  </section>`;
}
