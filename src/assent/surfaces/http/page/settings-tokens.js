// The credentials of a project: who holds one, a new one, and the end of one. A secret is shown once, where it was
// made.

import { html, useCallback, useEffect, useState } from "/page/html.js";
import { get, newKey, projectPath, request } from "/page/api.js";
import { Icon } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { useNow } from "/page/store.js";
import { nameOnly, plain, Text } from "/page/text.js";
import { NewToken } from "/page/settings-new-token.js";
import { day, span } from "/page/time.js";

export const ROLES = {
  agent: "may ask, never answer",
  human: "may answer and approve",
  operator: "may steer runs, not answer",
  observer: "may look",
};
const DAY = 86_400_000;
const MINE = "It may be the one you are signed in with.";

const isLive = (token, now) => !token.revoked_at && Date.parse(token.expires_at) > now;

// Everybody who can answer here, once each, with the end of what lets them.
export function answerers(tokens, now) {
  const found = new Map();
  for (const token of tokens.filter((each) => each.role === "human" && isLive(each, now))) {
    const before = found.get(token.name);
    if (!before || before < token.expires_at) found.set(token.name, token.expires_at);
  }
  return [...found].map(([name, until]) => ({ name, until })).sort((a, b) => a.name.localeCompare(b.name));
}

const scope = (token) => (token.projects.includes("*") ? "all projects" : token.projects.map(plain).join(", "));

function end(token, now) {
  const left = Date.parse(token.expires_at) - now;
  return left < 2 * DAY ? `in ${span(left)}` : day(token.expires_at);
}

function Row({ token, now, isAsked, onAsk, onRevoke, who }) {
  const isMine = token.role === "human" && token.name === who?.name;
  return html`<tr>
    <th scope="row" class="what"><${Text} value=${token.name} /><small class="mono">${token.token_id}</small></th>
    <td data-th="Role"><span>${token.role}<small>${ROLES[token.role]}</small></span></td>
    <td data-th="Holds in">${scope(token)}</td>
    <td data-th="Made by">
      <span><${Text} value=${nameOnly(token.created_by)} /><small>${day(token.created_at)}</small></span>
    </td>
    <td data-th="Ends">${end(token, now)}</td>
    <td class="do">
      <button class="btn btn-small btn-warn" type="button" aria-expanded=${isAsked ? "true" : "false"}
        onClick=${() => onAsk(isAsked ? null : token.token_id)}>
        Revoke<span class="sr"> ${plain(token.name)}, ${token.token_id}</span>
      </button>
    </td>
  </tr>
  ${isAsked &&
  html`<tr class="asked">
    <td colspan="6">
      <div class="second-do">
        <span>${isMine ? MINE : "It ends now, also where it is in use."} Nobody can undo that.</span>
        <button class="btn btn-small btn-danger" type="button" onClick=${() => onRevoke(token)}>Revoke for good</button>
        <button class="btn btn-small" type="button" onClick=${() => onAsk(null)}>Keep it</button>
      </div>
    </td>
  </tr>`}`;
}

function Ended({ tokens }) {
  return html`<details class="ended">
    <summary>${tokens.length} ended</summary>
    <ul>
      ${tokens.slice(0, 50).map(
        (token) => html`<li key=${token.token_id}>
          <b><${Text} value=${token.name} /></b>, ${token.role}, ${token.revoked_at
            ? html`revoked ${day(token.revoked_at)} by <${Text} value=${nameOnly(token.revoked_by)} />`
            : `expired ${day(token.expires_at)}`}
        </li>`,
      )}
      ${tokens.length > 50 && html`<li class="quiet">and ${tokens.length - 50} older ones</li>`}
    </ul>
  </details>`;
}

function Answerers({ tokens, now }) {
  const people = answerers(tokens, now);
  return html`<section aria-labelledby="s-people">
    <div>
      <h2 id="s-people">Who may answer</h2>
      <p class="why">Everyone with a human token that holds here. An agent never counts, by any door.</p>
    </div>
    <div class="policy">
      ${people.length > 0
        ? html`<ul class="chips">
            ${people.map(
              ({ name, until }) => html`<li class="tag" key=${name} title=${`until ${day(until)}`}>
                <span class="face" aria-hidden="true">${plain(name).slice(0, 1).toUpperCase()}</span>
                <${Text} value=${name} />
              </li>`,
            )}
          </ul>`
        : html`<p>No human token was made in this project.</p>`}
      <p class="why">
        Also whoever has a token for all projects that was made elsewhere, and whoever can write the store’s file on
        this machine. Every answer keeps how its author was established:
      </p>
      <dl class="proof">
        <div><dt>token</dt><dd>A server checked a person’s credential, as here.</dd></div>
        <div><dt>terminal</dt><dd>It was typed at a terminal on the machine with the store.</dd></div>
        <div><dt>declared</dt><dd>A process said so, and nobody checked.</dd></div>
      </dl>
    </div>
  </section>`;
}

export function Tokens({ project, who }) {
  const [tokens, setTokens] = useState(null);
  const [asked, setAsked] = useState(null);
  const [said, setSaid] = useState("");
  const now = useNow(30_000);
  const load = useCallback(
    () => get(projectPath(project, "tokens")).then((told) => setTokens(told.tokens), (error) => setSaid(error.message)),
    [project],
  );
  useEffect(() => {
    void load();
    return onEvent((event) => event.project === project && event.type.startsWith("token.") && void load());
  }, [load]);
  const revoke = async (token) => {
    setAsked(null);
    try {
      await request("DELETE", projectPath(project, "tokens", token.token_id), { key: newKey() });
      setSaid(`${plain(token.name)} was revoked.`);
      await load();
    } catch (error) {
      setSaid(`Not revoked. ${error.message}`);
    }
  };
  const live = (tokens ?? []).filter((token) => isLive(token, now));
  const ended = (tokens ?? []).filter((token) => !isLive(token, now));
  return html`<section aria-labelledby="s-tokens">
      <div>
        <h2 id="s-tokens">Tokens</h2>
        <p class="why">
          Those that were made in this project. An agent’s token can ask and never answer, by any door. Whoever signs
          in here holds one for as long.
        </p>
      </div>
      <div class="policy">
        ${live.length > 0 &&
        html`<div class="tablewrap" tabindex="0" role="region" aria-label="Tokens that are good now">
          <table class="table tokens">
            <thead>
              <tr>
                ${["Name", "Role", "Holds in", "Made by", "Ends"].map((name) => html`<th scope="col">${name}</th>`)}
                <th scope="col"><span class="sr">Action</span></th>
              </tr>
            </thead>
            <tbody>
              ${live.map(
                (token) => html`<${Row} key=${token.token_id} token=${token} now=${now} who=${who}
                  isAsked=${asked === token.token_id} onAsk=${setAsked} onRevoke=${(each) => void revoke(each)} />`,
              )}
            </tbody>
          </table>
        </div>`}
        ${tokens && live.length === 0 &&
        html`<p>No token of this project is good now. Make one for your first agent below.</p>`}
        ${ended.length > 0 && html`<${Ended} tokens=${ended} />`}
        <p class="label" role="status">${said && html`<${Icon} name="i-tick" /> ${said}`}</p>
        <${NewToken} project=${project} who=${who} onMade=${() => void load()} />
      </div>
    </section>
    ${tokens && html`<${Answerers} tokens=${tokens} now=${now} />`}`;
}
