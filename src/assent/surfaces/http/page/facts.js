// Facts about an ask, beside it on a wide screen and below it on a small one.

import { html, useState } from "/page/html.js";
import { href } from "/page/route.js";
import { useStore } from "/page/store.js";
import { nameOnly, Text } from "/page/text.js";
import { moment } from "/page/time.js";

const WIDE = matchMedia("(min-width: 90rem)");

function silenceOf(ask) {
  if (!ask.deadline) return ask.kind === "gate" ? "It waits without limit. A gate has no default." : "It waits. No deadline.";
  const at = moment(ask.deadline);
  return {
    wait: `It stays open after ${at}, and is shown as overdue.`,
    deny: `At ${at} it ends as a no.`,
    escalate: `At ${at} ${ask.escalate_to ? `${nameOnly(ask.escalate_to)} is` : "others are"} asked, too. It stays open.`,
    "end-run": `At ${at} it ends as a no, and its run ends with it.`,
  }[ask.consequence];
}

export function Facts({ ask }) {
  const presence = useStore((state) => state.presence);
  const [isOpen] = useState(WIDE.matches);
  const here = presence.filter((each) => each.ask_id === ask.ask_id).map((each) => `${nameOnly(each.by)} (${each.via})`);
  const run = ask.run_id && html`<a href=${href("runs", ask.project, ask.run_id)}><${Text} value=${ask.run_id} /></a>`;
  const facts = [
    ["If nobody answers", ask.kind !== "approval" && silenceOf(ask)],
    ["Asked by", html`<${Text} value=${ask.asker} />`],
    ["Asked at", html`<time datetime=${ask.opened_at}>${moment(ask.opened_at)}</time>`],
    ["Run", run],
    ["Who is here", here.length ? html`<${Text} value=${["you", ...here].join(", ")} />` : ""],
    ["Claimed", ask.claim && html`<${Text} value=${nameOnly(ask.claim.by)} />, ${moment(ask.claim.at)}. A courtesy: anybody may still answer.`],
    ["All or nothing", ask.prompt.fields.length > 1 && "The answers are sent together, and accepted together."],
    ["Key", ask.key && html`<span class="mono"><${Text} value=${ask.key} /></span>`],
    ["Ask", html`<span class="mono">${ask.ask_id}</span>`],
  ];
  return html`<details class="facts" open=${isOpen}>
    <summary>Facts about this ask</summary>
    <dl>
      ${facts
        .filter(([, value]) => value)
        .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
  </details>`;
}
