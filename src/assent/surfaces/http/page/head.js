// The top of an ask, and the box that an agent's words stand in: what is ours and what is theirs never mix.

import { html } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { othersAt } from "/page/presence.js";
import { Prose, useProse } from "/page/prose.js";
import { href } from "/page/route.js";
import { confirmTitle, kindOf, stemOf } from "/page/rows.js";
import { useNow, useStore } from "/page/store.js";
import { Text } from "/page/text.js";
import { left } from "/page/time.js";

const LONG = 90; // characters: beyond it a title is read, not seen

function Due({ ask }) {
  const now = useNow();
  if (!ask.deadline || ask.state !== "open") return null;
  return html`<span class="tag tag-caution"><${Icon} name="i-clock" />${left(ask.deadline, now)}</span>`;
}

export function Head({ ask, children }) {
  const presence = useStore((state) => state.presence);
  const who = useStore((state) => state.who);
  const kind = kindOf(ask);
  const others = ask.state === "open" && othersAt(ask, presence, who);
  const isParted = ask.state === "open" && stemOf(ask); // the rest of it stands above the options
  const ofPlan = confirmTitle(ask); // the sentence itself stands below it
  const title = ofPlan ?? (isParted ? ask.prompt.title.split("\n")[0] : ask.prompt.title);
  return html`<div class="ask-head">
    <a class="btn btn-bare btn-small back" href=${href("inbox")}><${Icon} name="i-back" />Inbox</a>
    <p class="ask-kind">
      <b><${Icon} name=${kind.icon} />${kind.name}</b><span><${Text} value=${ask.project} /></span
      ><span class="sep" aria-hidden="true">/</span><span><${Text} value=${ask.asker} /></span>
      <${Due} ask=${ask} />
      ${others && html`<span class="tag"><${Icon} name="i-eye" /><${Text} value=${others} /></span>`}
    </p>
    ${children}
    <h2 id="t-ask" class=${title.length > LONG ? "is-long" : ""}><${Text} value=${title} lines=${Boolean(stemOf(ask))} /></h2>
    ${ofPlan && html`<p class="stem"><${Text} value=${ask.prompt.title} lines /></p>`}
    ${ask.state === "open" &&
    ask.is_asker_gone &&
    html`<p class="gone" role="status">
      <${Icon} name="i-cut" />The program that asked this has ended; your answer is kept for whoever asks it again.
    </p>`}
  </div>`;
}

export function Quoted({ ask, label = "", children }) {
  return html`<div class="said">
    <p class="said-by">
      <${Icon} name="i-bot" /><b><${Text} value=${ask.asker} /> ${label ? `asks ${label}` : "wrote"}</b> not checked by Assent
    </p>
    <div class="prose prose-plain">${children}</div>
  </div>`;
}

export function Said({ ask }) {
  const tree = useProse(ask);
  const { body } = ask.prompt;
  if (!body) return null;
  if (!tree) return html`<${Quoted} ask=${ask}><${Text} value=${body} lines /><//>`;
  return html`<div class="said">
    <p class="said-by"><${Icon} name="i-bot" /><b><${Text} value=${ask.asker} /> wrote</b> not checked by Assent</p>
    <${Prose} tree=${tree} />
  </div>`;
}
