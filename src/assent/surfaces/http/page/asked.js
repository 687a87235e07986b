// What an ask was about, to be read once it has ended: the action with its digest, every question with its options and what
// was chosen, and what became of the receipt.

import { html, useEffect, useState } from "/page/html.js";
import { Action } from "/page/action.js";
import { get, projectPath } from "/page/api.js";
import { Said } from "/page/head.js";
import { Icon } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { isYes } from "/page/past.js";
import { keycap } from "/page/reply.js";
import { serverNow } from "/page/store.js";
import { nameOnly, Text } from "/page/text.js";
import { moment } from "/page/time.js";

// The receipt of a yes, as it is now; none where there is none, or where it is not for this reader.
function useReceipt(ask) {
  const [receipt, setReceipt] = useState(null);
  const id = ask.answer && isYes(ask.answer) && ask.terms?.receipt_id; // a no has none
  useEffect(() => {
    if (!id) return undefined;
    const look = () => get(projectPath(ask.project, "receipts", id)).then(setReceipt, () => {});
    look();
    return onEvent((event) => event.project === ask.project && event.type.startsWith("receipt.") && look());
  }, [ask.project, id]);
  return receipt;
}

function fateOf(receipt) {
  if (receipt.redeemed_at) return `redeemed by ${nameOnly(receipt.redeemed_by)} at ${moment(receipt.redeemed_at)}`;
  const end = moment(receipt.expires_at);
  return Date.parse(receipt.expires_at) > serverNow() ? `not redeemed yet, good once until ${end}` : `never redeemed, its time was over at ${end}`;
}

const Receipt = ({ receipt }) =>
  html`<p class="receipt"><${Icon} name="k-approval" />Receipt <span class="mono">${receipt.receipt_id}</span>: <${Text} value=${fateOf(receipt)} /></p>`;

function Chosen({ ask, field, at }) {
  const given = ask.answer?.values[field.name] ?? [];
  const own = given.filter((value) => !field.options.some((option) => option.key === value));
  return html`<div class="asked-field">
    ${(field.text || ask.prompt.fields.length > 1) &&
    html`<p>${ask.prompt.fields.length > 1 && html`<span class="qno">Q${at + 1}</span>`}<b><${Text} value=${field.text} lines /></b></p>`}
    <ul>
      ${field.options.map(
        (option, place) => html`<li key=${option.key} data-chosen=${given.includes(option.key) ? "true" : null}>
          <kbd class="key" aria-hidden="true">${keycap(ask, field, place)}</kbd>
          <span>
            <${Text} value=${option.label} />${option.destructive && html` <span class="tag tag-danger">cannot be undone</span>`}
            ${given.includes(option.key) && html` <span class="tag"><${Icon} name="i-tick" />chosen</span>`}
            ${option.description && html`<span class="choice-note"><${Text} value=${option.description} /></span>`}
          </span>
        </li>`,
      )}
      ${own.map((value) => html`<li data-chosen="true" key=${value}><${Icon} name="i-pen" /><span><${Text} value=${value} lines /></span></li>`)}
    </ul>
  </div>`;
}

export function Asked({ ask }) {
  const receipt = useReceipt(ask);
  const { action, risk, fields, commands } = ask.prompt;
  return html`<div class="asked">
    ${receipt && html`<${Receipt} receipt=${receipt} />`}
    ${risk && html`<p class="quiet">Risk, as the asker declared it: <b><${Text} value=${risk} /></b></p>`}
    ${action !== null && action !== undefined && html`<${Action} ask=${ask} />`}
    <${Said} ask=${ask} />
    ${fields.map((field, at) => html`<${Chosen} ask=${ask} field=${field} at=${at} key=${field.name} />`)}
    ${commands.length > 0 && html`<p class="quiet">Commands of this gate: <${Text} value=${commands.join(", ")} /></p>`}
  </div>`;
}
