// What an open question is about: its notification, and the task that waits for the answer.

import { html, useEffect, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { Icon } from "/page/icons.js";
import { Text } from "/page/text.js";

function useNotification(ask) {
  const [found, setFound] = useState({ note: null, task: null });
  useEffect(() => {
    let isHere = true;
    async function find() {
      const { notifications } = await get(projectPath(ask.project, "notifications"), { status: "all", limit: 500 });
      const note = notifications.find((each) => each.askId === ask.ask_id) ?? null;
      const task = note?.source === "execute" ? await get(projectPath(ask.project, "tasks", note.sourceId)) : null;
      if (isHere) setFound({ note, task });
    }
    find().catch(() => {}); // the question can be answered without it
    return () => (isHere = false);
  }, [ask.ask_id, ask.state]);
  return found;
}

export function Task({ ask }) {
  const { note, task } = useNotification(ask);
  if (!note) return null;
  const what = { eval: "Feedback", prd: "Requirements", plan: "Plan", execute: "Task" }[note.source];
  const isBlocked = task?.status === "blocked";
  return html`<div class="task">
      <${Icon} name="k-open" />
      <span>
        <b>${what} <${Text} value=${note.sourceId} />${task && html` <${Text} value=${task.title} />`}</b>
        <small>${isBlocked ? html`Blocked: <${Text} value=${task.block_reason ?? "Open Question"} />` : "waits for your answer"}</small>
      </span>
      ${task && html`<span class="tag ${isBlocked ? "tag-caution" : ""}">${task.status}</span>`}
    </div>
    ${task &&
    html`<p class="chain" aria-label="What your answer sets in motion">
      ${[`chat of ${note.sourceId}`, "resolved", `${note.sourceId} open`, "ready for the next agent"].map(
        (step, at) => html`${at === 0 && html`<span>Send</span>`}<${Icon} name="i-arrow" /><span><${Text} value=${step} /></span>`,
      )}
    </p>`}`;
}
