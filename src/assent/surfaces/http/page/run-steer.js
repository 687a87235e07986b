// Steering a run: pause, resume, escalate, cancel. What needs a word or a second look opens in the bar itself.
//
// Rule 1: a command has an id from the moment it is wanted. Sent again under it, it is executed once.
// Rule 2: what cannot be undone is asked again, in words that say what it does, and nothing in it is chosen beforehand.
// Rule 3: keys and buttons count a beat after what they would act on was drawn.

import { projectPath, request } from "/page/api.js";
import { html, useEffect, useRef, useState } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { useBeat, useKeys } from "/page/keys.js";
import { newRequestId } from "/page/run-control.js";
import { commandsFor, topOf } from "/page/run-words.js";
import { useStore } from "/page/store.js";
import { Sure } from "/page/sure.js";
import { inOption, Text } from "/page/text.js";

const COMMANDS = {
  pause: { key: "p", label: "Pause" },
  resume: { key: "r", label: "Resume" },
  escalate: { key: "e", label: "Escalate…" },
  cancel: { key: "x", label: "Cancel…", look: "btn-warn" },
};
const MAX_MODEL = 200;
const MAX_REASON = 2_000;

// Sends commands, one at a time, and says what became of the last one.
function useSender(run, noteOwn) {
  const [fate, setFate] = useState(null); // { order, isSending, error }
  const send = async (order) => {
    setFate({ order, isSending: true });
    noteOwn(order.request_id);
    try {
      await request("POST", projectPath(run.project, "runs", run.run_id, "control"), { body: order });
      setFate(null);
    } catch (error) {
      setFate({ order, isSending: false, error });
    }
  };
  return { fate, send, forget: () => setFate(null) };
}

function Fate({ fate, send, forget }) {
  if (!fate?.error) return null;
  const { order, error } = fate;
  return html`<div class="echo steer-fate" role="alert">
    <p>
      ${error.isOffline
        ? `No answer came, so it is not known whether “${order.command}” arrived. Sent again, it happens once.`
        : html`“${order.command}” was refused: <${Text} value=${error.message} />`}
    </p>
    ${error.isOffline &&
    html`<button class="btn btn-small" type="button" onClick=${() => send(order)}>Send again</button>`}
    <button class="btn btn-bare btn-small" type="button" onClick=${forget}>Close</button>
  </div>`;
}

// The model is typed, or taken from those that the run has declared.
function ModelField({ run, model, setModel }) {
  const first = useRef();
  useEffect(() => first.current?.focus(), []);
  const { models } = run.record;
  const current = topOf(run).frame.model;
  if (!models.length) {
    return html`<label class="steer-field">
      <span class="label">Model</span>
      <input
        class="field"
        type="text"
        ref=${first}
        value=${model}
        maxlength=${MAX_MODEL}
        placeholder="opus, if you name none"
        autocomplete="off"
        spellcheck="false"
        onInput=${(event) => setModel(event.target.value)}
      />
    </label>`;
  }
  return html`<label class="steer-field">
    <span class="label">Model, one of those that the run declares</span>
    <select class="field" ref=${first} value=${model} onChange=${(event) => setModel(event.target.value)}>
      <option value="">Choose a model</option>
      ${models.map(
        (name) => html`<option key=${name} value=${name}>${inOption(name)}${name === current ? ", as now" : ""}</option>`,
      )}
    </select>
  </label>`;
}

function Escalation({ run, onSend, onBack, isArmed, beat }) {
  const [model, setModel] = useState("");
  const [reason, setReason] = useState("");
  const lack = run.record.models.length && !model ? "Choose a model first" : "";
  const submit = (event) => {
    event?.preventDefault();
    if (!lack && isArmed) onSend({ ...(model.trim() ? { model: model.trim() } : {}), reason: reason.trim() });
  };
  useKeys({ Escape: onBack });
  useKeys({ "Ctrl+Enter": submit }, beat);
  // A field that is typed in has its own Escape: here it leads back, and not just out of the field.
  const leave = (event) => event.key === "Escape" && onBack();
  return html`<form class="steer-form" onSubmit=${submit} onKeyDown=${leave} aria-label="Escalate">
    <${ModelField} run=${run} model=${model} setModel=${setModel} />
    <label class="steer-field steer-reason">
      <span class="label">Why? It is kept with the run, and its agent may read it.</span>
      <input
        class="field"
        type="text"
        value=${reason}
        maxlength=${MAX_REASON}
        autocomplete="off"
        onInput=${(event) => setReason(event.target.value)}
      />
    </label>
    <p class="steer-note quiet">The next iteration gets the model; the one under way goes on as it is.</p>
    <button class="btn btn-bare" type="button" onClick=${onBack}>Back</button>
    <button class="btn btn-main" type="submit" aria-disabled=${lack || !isArmed ? "true" : null}>
      ${lack || html`Escalate <kbd class="key" aria-hidden="true">Ctrl Enter</kbd>`}
    </button>
  </form>`;
}

export function RunSteer({ run, noteOwn }) {
  const isOnline = useStore((state) => state.link.isOnline);
  const [opened, setOpened] = useState(null); // "escalate", "cancel"
  const { fate, send, forget } = useSender(run, noteOwn);
  const bar = useRef();
  const commands = commandsFor(run);
  const isSending = Boolean(fate?.isSending);
  // The beat begins again when other commands are shown, or when the second look has opened; not for a live update.
  const beat = useBeat(`${run.project}/${run.run_id} ${commands} ${opened}`);
  const isReady = beat.isOver && isOnline && !isSending;

  const close = () => {
    setOpened(null);
    bar.current?.querySelector(`[data-control="${opened}"]`)?.focus();
  };
  const order = (command, more = {}) => {
    setOpened(null);
    send({ command, request_id: newRequestId(), ...more });
  };
  const act = (command) => {
    if (!isReady) return undefined;
    if (command === "escalate" || command === "cancel") setOpened(command);
    else order(command);
    return true;
  };
  useKeys(opened ? null : Object.fromEntries(commands.map((command) => [COMMANDS[command].key, () => act(command)])), beat);
  // What was opened is about a run that goes on.
  useEffect(() => {
    if (!commands.length) setOpened(null);
  }, [commands.length]);

  if (!commands.length) return html`<${Fate} fate=${fate} send=${send} forget=${forget} />`;
  return html`<div class="steer ${beat.isOver ? "is-armed" : "is-arming"}" ref=${bar}>
    ${!opened &&
    html`<p class="push">
      ${commands.map(
        (command) => html`<button
          class="btn ${COMMANDS[command].look ?? ""}"
          type="button"
          key=${command}
          data-control=${command}
          aria-disabled=${isReady ? null : "true"}
          onClick=${() => act(command)}
        >
          ${COMMANDS[command].label} <kbd class="key" aria-hidden="true">${COMMANDS[command].key}</kbd>
        </button>`,
      )}
    </p>`}
    ${opened === "cancel" &&
    html`<${Sure}
      question="Cancel this run?"
      note="Its command is ended, its open asks are withdrawn, and it cannot be gone on with."
      yes="Cancel it, for good"
      no="Keep it"
      beat=${beat}
      isReady=${isOnline && !isSending}
      onYes=${() => order("cancel")}
      onNo=${close}
    />`}
    ${opened === "escalate" &&
    html`<${Escalation} run=${run} onSend=${(more) => order("escalate", more)} onBack=${close} isArmed=${isReady} beat=${beat} />`}
    ${isSending && html`<p class="quiet" role="status">Sending “${fate.order.command}”…</p>`}
    ${!isOnline && html`<p class="quiet"><${Icon} name="i-cut" /> Offline: nothing can be sent.</p>`}
    <${Fate} fate=${fate} send=${send} forget=${forget} />
  </div>`;
}
