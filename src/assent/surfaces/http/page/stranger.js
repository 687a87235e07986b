// For whoever is not signed in: the way in, and nothing of any project.

import { html } from "/page/html.js";
import { Icon, Mark } from "/page/icons.js";

export function Stranger() {
  return html`<main class="door">
    <div class="door-words">
      <p class="brand"><${Mark} /><span>Assent</span></p>
      <h1>One inbox for every question your agents ask.</h1>
      <ul>
        <li><${Icon} name="k-question" /><span>Ask once, answer anywhere: here, in a terminal, in a pull request.</span></li>
        <li><${Icon} name="i-split" /><span>Exactly one answer wins, and everybody is told which.</span></li>
        <li><${Icon} name="i-clock" /><span>Silence is never a yes.</span></li>
      </ul>
    </div>
    <div class="door-form">
      <section>
        <h2>Sign in</h2>
        <p>
          Open the link that <code>assent serve</code> printed when it started. It is good once, for ten minutes; start the
          server again for a new one.
        </p>
        <p><a class="btn btn-main" href="/sign-in">Sign in with a token</a></p>
        <p class="quiet">No token? On the machine that runs the server: <code>assent token create --role human</code></p>
        <p class="quiet">In a terminal you need no page: <code>assent inbox</code></p>
        <p class="label">This page holds no data before you sign in.</p>
      </section>
    </div>
  </main>`;
}
