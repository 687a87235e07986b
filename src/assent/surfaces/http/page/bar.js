// The bar under an ask: what would be sent, in words; whether keys count yet; and one button, which says why it cannot be
// pressed instead of being grey.

import { html, useLayoutEffect, useRef } from "/page/html.js";
import { FieldChoices } from "/page/choices.js";
import { destructiveMarks, isBlank, isGate, sendLabel, summary } from "/page/reply.js";
import { Text } from "/page/text.js";

const CAN_DECLINE = new Set(["question", "open_question", "approval", "confirm", "finding", "gate"]);

function keysLine({ isOnline, isArmed, isKept }) {
  if (!isOnline) return "Offline: kept as a draft";
  if (!isArmed) return "Keys arm in a moment";
  return isKept ? "Draft kept on this device" : "Keys ready";
}

function isDangerous(ask, reply) {
  const isYes = ask.kind === "approval" && reply.fields[ask.prompt.fields[0].name]?.keys[0] === "Approve";
  return (isYes && Boolean(ask.prompt.risk)) || destructiveMarks(ask, reply).length > 0;
}

export function Bar(props) {
  const { ask, reply, setReply, lack, isArmed, isOnline, isKept, sending, declining, setDeclining } = props;
  const reason = useRef();
  // At once with the drawing: what is typed next is the reason, and marks nothing.
  useLayoutEffect(() => {
    if (declining !== null) reason.current?.focus();
  }, [declining === null]);
  const isDeclining = declining !== null;
  const stop = sending ? "Sending" : !isOnline ? "Offline, kept as a draft" : lack;
  const label = isDeclining ? "Send the no" : sendLabel(ask, reply);
  const look = !isDeclining && isDangerous(ask, reply) ? "btn-danger" : "btn-main";
  const isApproval = ask.kind === "approval" && ask.prompt.fields.length === 1 && ask.prompt.fields[0].options.length <= 3;
  return html`<div class="bar">
    ${isApproval &&
    !isDeclining &&
    html`<${FieldChoices} ask=${ask} field=${ask.prompt.fields[0]} at=${0} reply=${reply} setReply=${setReply} isBare />`}
    ${isDeclining
      ? html`<label class="bar-reason"
          ><span class="label">${ask.kind === "open_question" ? "Unblock it without an answer. Why?" : "Decline to answer. Why?"} The agent is told.</span>
          <input
            class="field"
            type="text"
            ref=${reason}
            value=${declining}
            maxlength="2000"
            onInput=${(event) => setDeclining(event.target.value)}
        /></label>`
      : html`<p class="bar-mark" aria-live="polite">
          ${lack ? html`<${Text} value=${summary(ask, reply)} lines />` : html`<b><${Text} value=${summary(ask, reply)} lines /></b>`}<small
            class=${isKept || !isOnline ? "" : "keyline"}
            >${keysLine({ isOnline, isArmed, isKept })}</small
          >
        </p>`}
    ${isDeclining
      ? html`<button class="btn btn-bare" type="button" onClick=${() => setDeclining(null)}>Back</button>`
      : CAN_DECLINE.has(ask.kind) &&
        !isGate(ask) &&
        !isApproval &&
        isBlank(reply) &&
        html`<button class="btn btn-bare" type="button" onClick=${() => setDeclining("")}>${ask.kind === "open_question" ? "Dismiss…" : "Decline…"}</button>`}
    <button class="btn ${look}" type="submit" aria-disabled=${stop || (isDeclining && !isArmed) ? "true" : null}>
      ${stop ? stop : html`<span class="btn-text"><${Text} value=${label} /></span> <kbd class="key" aria-hidden="true">Enter</kbd>`}
    </button>
  </div>`;
}
