// The options of a question as real radio buttons and check boxes: arrows, Tab and screen readers work before any script
// of ours does. The keycap beside an option is the key that marks it.

import { html, useRef, useState } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { plain, Text } from "/page/text.js";
import { fieldReply, isFreeOnly, keycap, markOwn, OTHER, toggle, write } from "/page/reply.js";
import { stemOf } from "/page/rows.js";

const MANY = 9; // numbers reach so many; more are filtered
const SHORT = 24;

function Choice({ type, name, cap, label, note, option = {}, isMarked, onMark, isLast, children, hasMore }) {
  return html`<label class="choice ${hasMore ? "choice-write" : ""}">
    <input type=${type} name=${name} checked=${isMarked} onChange=${onMark} data-cap=${cap.toLowerCase()} data-label=${label.trim()} data-last=${isLast} />
    <kbd class="key" aria-hidden="true">${cap}</kbd>
    <span>
      <span class="choice-label"
        ><${Text} value=${label} />${option.recommended && html`<span class="tag">recommended</span>`}${option.destructive &&
        html`<span class="tag tag-danger"><${Icon} name="i-alert" />cannot be undone</span>`}</span
      >
      ${note && html`<span class="choice-note"><${Text} value=${note} /></span>`}
    </span>
    <${Icon} name="i-tick" class="tick" />
    ${children}
  </label>`;
}

// Enter in the filter is for the filter, and does not send what was marked before.
function keepEnter(event) {
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

// A list that is too long for the eye gets a filter; what is marked stays to be seen.
function useShownOptions(field, keys) {
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = field.options
    .map((option, at) => ({ option, at }))
    .filter(
      ({ option }) =>
        keys.includes(option.key) ||
        wanted.every((word) => `${option.label} ${option.description}`.toLowerCase().includes(word)),
    );
  return { words, setWords, shown };
}

function legendOf(ask, field) {
  if (field.text) return field.text;
  if (ask.kind === "gate" || ask.prompt.commands.length) return "Select an action";
  return stemOf(ask) || (field.multiple ? "Pick any number" : "Pick one");
}

function hintOf(field) {
  if (!field.text) return "";
  if (isFreeOnly(field)) return "your own words";
  if (field.multiple) return field.free ? "pick any number, or write your own" : "pick any number";
  return field.free ? "pick one, or write your own" : "pick one";
}

// What a form's field must hold, in words; the server checks it.
function shapeHint({ shape }) {
  if (!shape) return "";
  const parts = [shape.format ?? (shape.type === "string" ? "" : shape.type)];
  if (shape.minimum != null) parts.push(`from ${shape.minimum}`);
  if (shape.above != null) parts.push(`above ${shape.above}`);
  if (shape.maximum != null) parts.push(`up to ${shape.maximum}`);
  if (shape.below != null) parts.push(`below ${shape.below}`);
  if (shape.least != null) parts.push(`at least ${shape.least}`);
  if (shape.most != null) parts.push(`at most ${shape.most}`);
  if (shape.absence != null) parts.push("- for none");
  return parts.filter(Boolean).join(", ");
}

export function FieldChoices({ ask, field, at, reply, setReply, isBare = false }) {
  const { keys, text, isOwn } = fieldReply(reply, field.name);
  const { words, setWords, shown } = useShownOptions(field, keys);
  const own = useRef();
  const isRound = ask.prompt.fields.length > 1;
  const number = isRound && html`<span class="qno">Q${at + 1}</span>`;
  const hint = hintOf(field);
  const id = `${ask.ask_id}-${at}`;
  const rule = shapeHint(field);
  if (isFreeOnly(field)) {
    return html`<div class="q" data-field=${field.name}>
      <label class="q-label" for=${id}
        >${number}<b><${Text} value=${field.text || "Your answer"} lines /></b> <span class="quiet">${rule || hint}</span></label
      >
      <textarea
        class="field"
        id=${id}
        rows=${isRound ? 2 : 4}
        placeholder="Write here. Ctrl+Enter sends."
        value=${text}
        onInput=${(event) => setReply(write(reply, field, event.target.value))}
      ></textarea>
    </div>`;
  }
  const isShort = shown.length >= 4 && shown.every(({ option }) => option.label.length <= SHORT && !option.description);
  const type = field.multiple ? "checkbox" : "radio";
  const markOwnWords = (event) => {
    setReply(markOwn(reply, field, event.target.checked));
    if (event.target.checked) own.current?.focus();
  };
  return html`<fieldset class="choices ${isRound ? "q" : ""}" data-field=${field.name}>
    <legend class=${isBare ? "sr" : ""}>${number}<${Text} value=${legendOf(ask, field)} lines />${hint && html`<span class="hint">${hint}</span>`}</legend>
    ${field.options.length > MANY &&
    html`<label class="search">
      <span class="sr">Filter the ${field.options.length} options</span><${Icon} name="i-search" />
      <input class="field" type="search" autocomplete="off" placeholder=${`Filter ${field.options.length} options`} value=${words}
        onInput=${(event) => setWords(event.target.value)} onKeyDown=${keepEnter} />
    </label>`}
    <div class=${isShort && !isBare ? "choices two" : "choices"}>
      ${shown.map(
        ({ option, at: place }) => html`<${Choice}
          key=${option.key}
          type=${type}
          name=${id}
          cap=${keycap(ask, field, place)}
          label=${option.label}
          note=${option.description}
          option=${option}
          isMarked=${keys.includes(option.key)}
          onMark=${() => setReply(toggle(reply, field, option.key))}
        />`,
      )}
      ${field.free &&
      html`<${Choice}
        type=${type}
        name=${id}
        cap=${keycap(ask, field, field.options.length)}
        label=${field.other || OTHER}
        isMarked=${isOwn}
        onMark=${markOwnWords}
        hasMore
      >
        <input
          class="field"
          type="text"
          ref=${own}
          aria-label=${`${isRound ? `Q${at + 1}, ` : ""}${plain(field.other || "your own answer")}`}
          value=${text}
          placeholder="Ctrl+Enter sends."
          onInput=${(event) => setReply(write(reply, field, event.target.value))}
        />
      <//>`}
      ${!shown.length && !field.free && html`<p class="quiet">No option has these words.</p>`}
    </div>
  </fieldset>`;
}

export { Choice };
