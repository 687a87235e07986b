// All keys, as a dialog.

import { html, useEffect, useRef } from "/page/html.js";

const KEYS = [
  ["Move", [
    ["Next, previous ask", ["j", "k"]],
    ["Oldest ask", ["o"]],
    ["Filter the list", ["/"]],
    ["Inbox, runs, history, numbers, settings", ["g", "then", "i", "r", "h", "n", "s"]],
    ["Back, close", ["Esc"]],
  ]],
  ["Answer", [
    ["Mark an option", ["A", "…", "Z", "or", "1", "…", "9"]],
    ["Move between options", ["↑", "↓"]],
    ["Send what is marked", ["Enter"]],
    ["Send from a text field", ["Ctrl", "Enter"]],
    ["Decline, with a reason", ["Shift", "D"]],
    ["Unmark", ["Backspace"]],
  ]],
  ["This ask", [
    ["Claim, so that others see it", ["Shift", "C"]],
    ["Copy its id", ["Shift", "I"]],
  ]],
  ["Runs", [
    ["Pause, resume", ["p", "r"]],
    ["Escalate the model", ["e"]],
    ["Cancel, asks again", ["x"]],
  ]],
];
const JOINING = new Set(["then", "or", "…"]);

export function Help({ isOpen, onClose }) {
  const dialog = useRef();
  useEffect(() => {
    if (isOpen && !dialog.current.open) dialog.current.showModal();
    if (!isOpen && dialog.current.open) dialog.current.close();
  }, [isOpen]);
  return html`<dialog ref=${dialog} aria-labelledby="t-help" onClose=${onClose}>
    <div class="help">
      <header>
        <h2 id="t-help">Keys</h2>
        <button class="btn btn-small" type="button" onClick=${onClose}>Close <kbd class="key">Esc</kbd></button>
      </header>
      <div class="help-cols">
        ${KEYS.map(
          ([title, keys]) => html`<section key=${title}>
            <h3>${title}</h3>
            <ul>
              ${keys.map(
                ([what, caps]) => html`<li key=${what}>
                  <span>${what}</span>
                  <span>${caps.map((cap) => (JOINING.has(cap) ? cap : html`<kbd class="key">${cap}</kbd>`))}</span>
                </li>`,
              )}
            </ul>
          </section>`,
        )}
      </div>
      <p class="help-note">
        A letter only marks; Enter sends. After a new ask is drawn, keys wait until none was pressed for 0.4 s, so that a
        keystroke meant for elsewhere decides nothing: keycaps are dashed until then, and again after a letter that means nothing here. Where the field that you typed in has
        gone, keys rest until you click, or press Esc and wait a second. The letters of the page, j k g o, never mark: such an option is reached
        with the arrows.
      </p>
    </div>
  </dialog>`;
}
