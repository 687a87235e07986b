// The bar under an ask: what would be sent, in words; whether keys count yet; and one button, which says why it cannot be
// pressed instead of being grey.

import { html, useLayoutEffect, useRef, useState } from "/page/html.js";
import { FieldChoices } from "/page/choices.js";
import { Onward } from "/page/fate.js";
import { destructiveMarks, giveReason, isRejected, sendLabel, summary, takesReason } from "/page/reply.js";
import { Text } from "/page/text.js";

function keysLine({ isOnline, isArmed, isKept, isEnded }) {
  if (isEnded) return "This has ended: nothing more is sent. Esc leaves the field.";
  if (!isOnline) return "Offline: kept as a draft";
  if (!isArmed) return "Keys arm in a moment";
  return isKept ? "Draft kept on this device" : "Keys ready";
}

function isDangerous(ask, reply) {
  const isYes = ask.kind === "approval" && reply.fields[ask.prompt.fields[0].name]?.keys[0] === "Approve";
  return (isYes && Boolean(ask.prompt.risk)) || destructiveMarks(ask, reply).length > 0;
}

// Why not: beside the no itself, so that it takes no more than a press and the words.
function Reason({ ask, reply, setReply }) {
  const field = useRef();
  const [isWanted, setWanted] = useState(false);
  useLayoutEffect(() => {
    if (isWanted) field.current?.focus();
    setWanted(false);
  }, [isWanted]);
  if (!takesReason(ask, reply)) {
    const begin = () => {
      setReply(giveReason(ask, reply, ""));
      setWanted(true);
    };
    return html`<button class="btn btn-bare" type="button" onClick=${begin}>Reject, and say why…</button>`;
  }
  return html`<label class="bar-reason bar-why"
    ><span class="label">Why not? The agent is told${isRejected(ask, reply) ? "" : ", once Reject is marked"}.</span>
    <input
      class="field"
      type="text"
      ref=${field}
      value=${reply.reason}
      placeholder="Ctrl+Enter sends."
      maxlength="2000"
      autocomplete="off"
      onInput=${(event) => setReply(giveReason(ask, reply, event.target.value))}
  /></label>`;
}

export function Bar(props) {
  const { ask, reply, setReply, lack, isArmed, isOnline, isKept, isEnded, sending, declining, setDeclining, next, children } = props;
  const reason = useRef();
  // At once with the drawing: what is typed next is the reason, and marks nothing.
  useLayoutEffect(() => {
    if (declining !== null) reason.current?.focus();
  }, [declining === null]);
  const isDeclining = declining !== null;
  const stop = sending ? "Sending" : !isOnline ? "Offline, kept as a draft" : lack;
  const label = isDeclining ? "Send the no" : sendLabel(ask, reply);
  const look = !isDeclining && isDangerous(ask, reply) ? "btn-danger" : "btn-main";
  const isApproval = ask.kind === "approval" && ask.prompt.fields.length === 1;
  const isPlain = isApproval && ask.prompt.fields[0].options.length <= 3;
  return html`<div class="bar">
    ${isPlain &&
    !isDeclining &&
    html`<${FieldChoices} ask=${ask} field=${ask.prompt.fields[0]} at=${0} reply=${reply} setReply=${setReply} isBare />`}
    ${isApproval && !isDeclining && html`<${Reason} ask=${ask} reply=${reply} setReply=${setReply} />`}
    ${isDeclining
      ? html`<label class="bar-reason"
          ><span class="label">${isEnded ? keysLine({ isEnded }) : `${ask.kind === "open_question" ? "Unblock it without an answer." : "Decline to answer."} Why? The agent is told.`}</span>
          <input
            class="field"
            type="text"
            ref=${reason}
            value=${declining}
            placeholder="Ctrl+Enter sends."
            maxlength="2000"
            autocomplete="off"
            onInput=${(event) => setDeclining(event.target.value)}
        /></label>`
      : html`<p class="bar-mark" aria-live="polite">
          ${lack || isEnded ? html`<${Text} value=${summary(ask, reply)} lines />` : html`<b><${Text} value=${summary(ask, reply)} lines /></b>`}<small
            class=${isKept || isEnded || !isOnline ? "" : "keyline"}
            >${keysLine({ isOnline, isArmed, isKept, isEnded })}</small
          >
        </p>`}
    ${children}
    ${!isEnded &&
    !children &&
    html`${isDeclining
        ? html`<button class="btn btn-bare" type="button" onClick=${() => setDeclining(null)}>Back</button>`
        : !isApproval &&
          html`<button class="btn btn-bare" type="button" onClick=${() => setDeclining("")}>${ask.kind === "open_question" ? "Dismiss…" : "Decline…"}</button>`}
      <button class="btn ${look}" type="submit" aria-disabled=${stop || (isDeclining && !isArmed) ? "true" : null}>
        ${stop ? stop : html`<span class="btn-text"><${Text} value=${label} /></span> <kbd class="key" aria-hidden="true">${isDeclining ? "Ctrl Enter" : "Enter"}</kbd>`}
      </button>`}
    ${isEnded && html`<${Onward} onward=${next} />`}
  </div>`;
}
