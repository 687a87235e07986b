// What stands between an ask's title and its bar, for each kind.

import { html } from "/page/html.js";
import { Action } from "/page/action.js";
import { Choice, FieldChoices } from "/page/choices.js";
import { Icon } from "/page/icons.js";
import { Quoted, Said } from "/page/head.js";
import { CONFIRM_WAYS, fieldReply, isFreeOnly, isYesNo, toggle, typeCommand, write } from "/page/reply.js";
import { Task } from "/page/task.js";
import { Walk } from "/page/walk-card.js";
import { isOfWalk } from "/page/rows.js";
import { nameOnly, Text } from "/page/text.js";
import { moment, span } from "/page/time.js";

const Fields = (props) =>
  props.ask.prompt.fields.map(
    (field, at) => html`<${FieldChoices} ...${props} field=${field} at=${at} key=${field.name} />`,
  );

function Question(props) {
  const { ask } = props;
  return html`${isOfWalk(ask) && html`<${Walk} ask=${ask} />`}<${Said} ask=${ask} /><${Fields} ...${props} />`;
}

// A gate: its options are numbered, and it takes commands, too. What a command does is the gate's own affair.
function Gate(props) {
  const { ask, reply, setReply } = props;
  const { commands } = ask.prompt;
  const bare = (command) => command.replace(/\{.*$/, "");
  return html`<${Said} ask=${ask} />
    ${ask.prompt.fields[0].options.length > 0 && html`<${Fields} ...${props} />`}
    ${commands.length > 0 &&
    html`<div class="choices">
      <label for="gate-command"><b>Or type a number or command</b></label>
      <input
        class="field mono"
        id="gate-command"
        type="text"
        autocomplete="off"
        spellcheck="false"
        placeholder="Type here"
        value=${reply.command}
        onInput=${(event) => setReply(typeCommand(reply, event.target.value))}
      />
      <div class="chips" role="group" aria-label="Commands of this gate">
        ${commands.map(
          (command) => html`<button
            class="btn btn-small"
            type="button"
            key=${command}
            onClick=${() => {
              setReply(typeCommand(reply, bare(command)));
              document.getElementById("gate-command")?.focus();
            }}
          >
            <${Text} value=${command} />
          </button>`,
        )}
      </div>
    </div>`}`;
}

function Confirm(props) {
  const { ask, reply, setReply } = props;
  if (!isYesNo(ask)) return html`<${Question} ...${props} />`;
  const [field] = ask.prompt.fields;
  const { keys, text } = fieldReply(reply, field.name);
  const writing = { ...field, options: CONFIRM_WAYS };
  return html`<${Said} ask=${ask} />
    <fieldset class="choices" data-field=${field.name}>
      <legend><${Text} value=${field.text || "Continue?"} lines /></legend>
      ${CONFIRM_WAYS.map(
        (way) => html`<${Choice}
          key=${way.key}
          type="radio"
          name=${ask.ask_id}
          cap=${way.letter}
          label=${way.label}
          note=${way.note}
          isMarked=${keys[0] === way.key}
          onMark=${() => setReply(toggle(reply, { ...field, multiple: false }, way.key))}
          hasMore=${way.key === "changes"}
        >
          ${way.key === "changes" &&
          html`<textarea
            class="field"
            rows="2"
            aria-label="What to change"
            placeholder="What should be different?"
            value=${text}
            onInput=${(event) =>
              setReply(toggle(write(reply, { ...writing, options: [] }, event.target.value), { ...field, multiple: false }, "changes"))}
          ></textarea>`}
        <//>`,
      )}
    </fieldset>`;
}

// A person said no to the same action before: who, when and why, and why the asker asks all the same.
const Earlier = ({ again }) => html`<div class="stakes-earlier">
  <p>
    <b><${Text} value=${nameOnly(again.by)} /> said no to this action, ${moment(again.at)}</b>${again.words &&
    html`: “<${Text} value=${again.words} lines />”`}
  </p>
  <p>Asked again, in the asker's words: “<${Text} value=${again.reason} lines />”</p>
</div>`;

// Consequence first: what follows from a yes, from a no, and from silence.
function Stakes({ ask }) {
  const { prompt, terms, deadline, consequence, again } = ask;
  const life = terms?.life_seconds ? `, within ${span(terms.life_seconds * 1_000)} of your yes` : "";
  const silence = deadline
    ? {
        deny: `At ${moment(deadline)} it ends as a no. Silence is never a yes.`,
        "end-run": `At ${moment(deadline)} it ends as a no, and its run with it.`,
        escalate: `At ${moment(deadline)} others are asked, too. Silence is never a yes.`,
        wait: `It waits on after ${moment(deadline)}. Silence is never a yes.`,
      }[consequence]
    : "It waits. Silence is never a yes.";
  const isBad = /irrevers|destruct|undone|danger|critical|high/i.test(prompt.risk ?? "");
  return html`<div class="stakes">
    ${again && html`<${Earlier} again=${again} />`}
    <p class="stakes-top ${isBad ? "" : "stakes-calm"}">
      <${Icon} name="i-alert" />
      ${prompt.risk ? html`<span><${Text} value=${prompt.risk} /></span>` : html`<span>No risk was declared</span>`}
      <span class="more"
        >${prompt.risk ? "declared by the asker" : "the asker said nothing about it"}${terms?.category ? ` · your policy asks first for ${terms.category}` : ""}</span
      >
    </p>
    <dl>
      <div><dt>If you approve</dt><dd><${Text} value=${ask.asker} /> may do exactly this, once${life}.</dd></div>
      <div><dt>If you reject</dt><dd>Nothing runs. The agent gets your no.</dd></div>
      <div><dt>If nobody answers</dt><dd>${silence}</dd></div>
    </dl>
  </div>`;
}

function Approval(props) {
  const { ask } = props;
  const isPlain = ask.prompt.fields.length === 1 && ask.prompt.fields[0].options.length <= 3;
  return html`<${Stakes} ask=${ask} />
    ${ask.prompt.action !== null && ask.prompt.action !== undefined && html`<${Action} ask=${ask} />`}
    <${Said} ask=${ask} />
    ${!isPlain && html`<${Fields} ...${props} />`}`;
}

const Finding = (props) => html`<${Walk} ask=${props.ask} /><${Said} ask=${props.ask} /><${Fields} ...${props} />`;

// What an agent wants to know is its own words, so each question stands in its box; the answer below it is the reader's.
function OpenQuestion(props) {
  const { ask, reply, setReply } = props;
  const { fields } = ask.prompt;
  return html`<${Task} ask=${ask} /><${Said} ask=${ask} />
    ${fields.map((field, at) => {
      const id = `${ask.ask_id}-${at}`;
      return html`<div class="openq" key=${field.name}>
        <${Quoted} ask=${ask} label=${fields.length > 1 ? `Q${at + 1}` : ""}><${Text} value=${field.text} lines /><//>
        ${isFreeOnly(field)
          ? html`<label class="q-label" for=${id}
                >${fields.length > 1 && html`<span class="qno">Q${at + 1}</span>`} <b>Your answer</b></label
              >
              <textarea
                class="field"
                id=${id}
                rows="3"
                placeholder="Write here. Ctrl+Enter sends."
                value=${fieldReply(reply, field.name).text}
                onInput=${(event) => setReply(write(reply, field, event.target.value))}
              ></textarea>`
          : html`<${FieldChoices} ...${props} field=${{ ...field, text: "Your answer" }} at=${at} />`}
      </div>`;
    })}`;
}

export const MATTERS = {
  question: Question,
  gate: Gate,
  confirm: Confirm,
  approval: Approval,
  finding: Finding,
  open_question: OpenQuestion,
};
