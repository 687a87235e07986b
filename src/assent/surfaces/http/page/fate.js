// How an ask ended, and what became of the answer that was made here: told as it is, with who and what.

import { html } from "/page/html.js";
import { Asked } from "/page/asked.js";
import { Facts } from "/page/facts.js";
import { Head } from "/page/head.js";
import { Icon } from "/page/icons.js";
import { useKeys } from "/page/keys.js";
import { askHref, go, href } from "/page/route.js";
import { flowOf, kindOf } from "/page/rows.js";
import { nameOnly, Text } from "/page/text.js";
import { moment, span } from "/page/time.js";

const ASSURANCES = {
  token: "signed in with a token",
  terminal: "typed at a terminal",
  declared: "as a process said, unchecked",
  host: "by the agent's host, not proven",
  comment: "by a comment, which anybody with that login can write",
};

const UNATTENDED = "Unattended: no person was there, a program sent it as it was set up to.";

// What was answered, as people read it.
export function answerWords(ask) {
  const { values } = ask.answer;
  return ask.prompt.fields
    .map((field, at) => {
      const said = (values[field.name] ?? []).map(
        (key) => field.options.find((option) => option.key === key)?.label ?? key,
      );
      return ask.prompt.fields.length > 1 ? `Q${at + 1}: ${said.join(", ")}` : said.join(", ");
    })
    .join(" · ");
}

function Answered({ ask, fate, who }) {
  const { by, via, assurance, at, reason, is_unattended: isUnattended } = ask.answer;
  const name = nameOnly(by);
  const isMine = fate?.isMine;
  const isProven = (assurance === "token" || assurance === "terminal") && !isUnattended;
  const isOwn = isMine || (isProven && by === `human:${who?.name}` && !fate?.wasSent);
  const took = span(Date.parse(at) - Date.parse(ask.opened_at));
  const title = isMine
    ? "Accepted, yours was the one"
    : isOwn
      ? "You answered"
      : fate?.wasSent
        ? html`${name === who?.name ? "You were first, from elsewhere" : html`<${Text} value=${name} /> was first`}, your answer was not used`
        : html`<${Text} value=${name} /> answered`;
  return html`<div class="fate ${isOwn ? "fate-ok" : "fate-lost"}" role="status">
    <${Icon} name=${isOwn ? "i-tick" : "i-split"} />
    <h3>${title}</h3>
    <p class="big">${!isOwn && html`<${Text} value=${name} />: `}<b><${Text} value=${answerWords(ask)} lines /></b></p>
    ${reason && html`<p>“<${Text} value=${reason} lines />”</p>`}
    <p class="quiet">
      ${moment(at)}, via <${Text} value=${via} />, ${ASSURANCES[assurance] ?? assurance}, after ${took}.
      ${isUnattended ? ` ${UNATTENDED}` : ""} The agent has been
      told this answer and nothing else.
    </p>
  </div>`;
}

const OUTCOMES = {
  declined: (ask) => ["i-no", `${nameOnly(ask.outcome.by)} declined to answer`, "The agent was told that nobody will answer this. It is no yes."],
  withdrawn: () => ["i-undo", "Taken back", "The asker does not need an answer any more."],
  expired: (ask) => [
    "i-clock",
    ask.consequence === "end-run" ? "Expired: it counts as a no, and the run ended" : "Expired, counts as a no",
    "Nobody answered in the time that the asker gave. The agent was told “expired”, not “declined”.",
  ],
  superseded: () => ["i-split", "Asked anew", "The asker has put another question in its place."],
};

function Ended({ ask }) {
  const [icon, title, words] = OUTCOMES[ask.state](ask);
  return html`<div class="fate" role="status">
    <${Icon} name=${icon} />
    <h3><${Text} value=${title} /></h3>
    <p>${words}</p>
    ${ask.outcome.reason && html`<p>“<${Text} value=${ask.outcome.reason} lines />”</p>`}
    <p class="quiet">
      ${moment(ask.outcome.at)}, by <${Text} value=${nameOnly(ask.outcome.by)} />${ask.outcome.via && html`, via <${Text} value=${ask.outcome.via} />`}${ask.outcome.is_unattended && `. ${UNATTENDED}`}
    </p>
  </div>`;
}

export const Outcome = ({ ask, fate, who }) =>
  ask.answer ? html`<${Answered} ask=${ask} fate=${fate} who=${who} />` : html`<${Ended} ask=${ask} />`;

// Where to go on from an ask that has ended.
export const Onward = ({ onward }) =>
  onward
    ? html`<a class="btn btn-main" href=${askHref(onward)}>Next ask <kbd class="key" aria-hidden="true">j</kbd></a>`
    : html`<a class="btn" href=${href("history", "answers")}>Open the history</a>`;

export function Fate({ ask, fate, who, kept, next: onward }) {
  useKeys({ Enter: () => (onward ? go(askHref(onward)) : false) });
  const flow = flowOf(ask);
  return html`<section class="ask" aria-labelledby="t-ask">
    <div class="ask-main">
      <${Head} ask=${ask} />
      <${Outcome} ask=${ask} fate=${fate} who=${who} />
      ${kept.length > 0 &&
      html`<div class="kept">
        <h3>What you had here, not sent anywhere else</h3>
        ${kept.map((line) => html`<p><b><${Text} value=${line} lines /></b></p>`)}
        <p class="chips">
          <button class="btn btn-small" type="button" onClick=${() => void navigator.clipboard?.writeText(kept.join("\n"))}>
            <${Icon} name="i-copy" />Copy
          </button>
        </p>
      </div>`}
      <${Asked} ask=${ask} />
    </div>
    <div class="bar">
      <p class="bar-mark">
        ${onward ? html`Next: ${kindOf(onward).name}, <${Text} value=${onward.project} />` : "Nothing else waits"}
      </p>
      ${flow && html`<a class="btn" href=${href("walk", ask.project, flow)}>The walk-through</a>`}
      <${Onward} onward=${onward} />
    </div>
    <${Facts} ask=${ask} />
  </section>`;
}
