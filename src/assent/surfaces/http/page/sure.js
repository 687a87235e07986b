// Asking once more before what cannot be undone: y, or a press on the button that names it. Anything else changes nothing.

import { html, useEffect, useRef } from "/page/html.js";
import { useKeys } from "/page/keys.js";
import { Text } from "/page/text.js";

const isAnswer = (name) => name.length === 1 || name.startsWith("Shift+") || name === "Enter" || name === "Backspace";

export function Sure({ question, note, yes, no, beat, isReady = true, onYes, onNo }) {
  const back = useRef();
  const isOpen = beat.isOver && isReady;
  useEffect(() => back.current?.focus(), []);
  useKeys({ Escape: onNo });
  useKeys({ y: () => isReady && onYes(), any: (_, name) => (isAnswer(name) ? onNo() : false) }, beat);
  return html`<div class="sure" role="group" aria-labelledby="t-sure">
    <p id="t-sure"><b><${Text} value=${question} /></b> <${Text} value=${note} /></p>
    <button class="btn" type="button" ref=${back} onClick=${onNo}>
      ${no} <kbd class="key" aria-hidden="true">n</kbd>
    </button>
    <button class="btn btn-danger" type="button" aria-disabled=${isOpen ? null : "true"} onClick=${() => isOpen && onYes()}>
      <span class="btn-text"><${Text} value=${yes} /></span> <kbd class="key" aria-hidden="true">y</kbd>
    </button>
  </div>`;
}
