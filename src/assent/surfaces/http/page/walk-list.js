// The walk-throughs of a project, or of all: those whose questions are among the newest asks.

import { html, useEffect, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { Icon } from "/page/icons.js";
import { href } from "/page/route.js";
import { flowOf } from "/page/rows.js";
import { useStore } from "/page/store.js";
import { Text } from "/page/text.js";
import { moment } from "/page/time.js";
import { tallyWords } from "/page/walk-steps.js";

const LOOKED_AT = 500;
const SHOWN = 20;

// Newest question first; of each review what its newest ask says.
export function reviewsOf(asks, flow = flowOf) {
  const found = new Map();
  for (const ask of asks) {
    const flowId = flow(ask);
    if (!flowId) continue;
    const key = `${ask.project}/${flowId}`;
    const review = found.get(key) ?? { project: ask.project, flow: flowId, at: ask.opened_at, waits: 0, asks: 0 };
    review.asks += 1;
    review.waits += ask.state === "open" ? 1 : 0;
    review.at = review.at < ask.opened_at ? ask.opened_at : review.at;
    found.set(key, review);
  }
  return [...found.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

const STATES = {
  waiting: ["k-finding", "waits for you"],
  working: ["s-running", "at work"],
  finished: ["i-tick", "finished"],
  left: ["i-no", "left"],
  unclear: ["i-alert", "unclear"],
};

async function load(project) {
  const { asks } = await get(projectPath(project, "asks"), { state: "all", limit: LOOKED_AT });
  const reviews = reviewsOf(asks).slice(0, SHOWN);
  return Promise.all(
    reviews.map(async (review) => ({
      ...review,
      view: await get(projectPath(project, "reviews", review.flow)).catch(() => null),
    })),
  );
}

function Row({ review }) {
  const { view, project, flow, at } = review;
  const [sign, words] = STATES[view?.state ?? "unclear"];
  return html`<li>
    <b><${Icon} name=${sign} /></b>
    <span>
      <a href=${href("walk", project, flow)}><${Text} value=${view?.document ?? flow} /></a>
      <small>${view ? tallyWords(view.findings) || "no findings to decide" : "It cannot be read just now."}</small>
      <small class="quiet"><${Text} value=${project} />, last question ${moment(at)}</small>
    </span>
    <span class="tag ${view?.state === "waiting" ? "tag-accent" : ""}">${view?.report?.verdict ?? words}</span>
  </li>`;
}

export function Reviews({ only }) {
  const projects = useStore((state) => state.projects);
  const asks = useStore((state) => state.asks);
  const [reviews, setReviews] = useState(null);
  const [problem, setProblem] = useState("");
  const meant = projects.filter((project) => !only || project === only);
  // What changes when a question of a walk-through comes or goes.
  const mark = [...asks.values()].filter(flowOf).map((ask) => `${ask.ask_id}${ask.state}`).join();
  useEffect(() => {
    let isHere = true;
    Promise.all(meant.map(load)).then(
      (found) => isHere && setReviews(found.flat().sort((a, b) => (a.at < b.at ? 1 : -1))),
      (error) => isHere && setProblem(error.message),
    );
    return () => (isHere = false);
  }, [meant.join("/"), mark]);
  return html`<div class="page">
    <div class="page-head">
      <h1>Walk-throughs</h1>
      ${only && html`<span class="quiet"><${Text} value=${only} /> · <a href=${href("walk")}>all projects</a></span>`}
    </div>
    <div class="page-body"><div class="walk">
      ${problem && html`<p class="note" role="status">${problem}</p>`}
      ${reviews?.length > 0 && html`<section class="bucket reviews" aria-label="Walk-throughs"><ul>
        ${reviews.map((review) => html`<${Row} key=${`${review.project}/${review.flow}`} review=${review} />`)}
      </ul></section>`}
      ${reviews?.length === 0 && html`<div class="blank">
        <h2>No walk-through yet</h2>
        <p>When an agent hands in findings about a document, each of them is decided here, one by one or together:
        <code>assent review FINDINGS.json --document plan.md --durable</code></p>
      </div>`}
    </div></div>
  </div>`;
}
