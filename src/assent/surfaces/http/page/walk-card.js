// Where a question stands in its walk-through: the findings with what was decided so far, above the one that is asked now.

import { html, useEffect, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { href } from "/page/route.js";
import { flowOf } from "/page/rows.js";
import { Steps } from "/page/walk-steps.js";

export function Walk({ ask }) {
  const flow = flowOf(ask);
  const [view, setView] = useState(null);
  useEffect(() => {
    if (!flow) return undefined;
    let isHere = true;
    get(projectPath(ask.project, "reviews", flow))
      .then((found) => isHere && setView(found))
      .catch(() => {}); // the question stands without it
    return () => (isHere = false);
  }, [flow, ask.ask_id]);
  if (!flow) return null;
  return html`<div class="walk-line">
    ${view && html`<${Steps} view=${view} />`}
    <a class="walk-link" href=${href("walk", ask.project, flow)}>The whole walk-through</a>
  </div>`;
}
