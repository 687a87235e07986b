// How far agents may go without a person, per kind of change. Tightening holds at once; loosening is said in words
// first and asks for a second step, for it takes something out of people's hands.

import { html, useCallback, useEffect, useState } from "/page/html.js";
import { get, newKey, projectPath, request } from "/page/api.js";
import { Icon } from "/page/icons.js";
import { onEvent } from "/page/live.js";
import { nameOnly, Text } from "/page/text.js";
import { moment } from "/page/time.js";

const CATEGORIES = {
  scopeChanges: ["Scope changes", "What is built: more, less, or something else than was agreed."],
  architectureDecisions: ["Architecture decisions", "How it is built."],
  dependencyModifications: ["Dependency changes", "What it is built on."],
};
// Tightest last, as one reads from an agent's freedom to a person's say.
const LEVELS = {
  automated: ["Automated", "Full autonomy: proceed without confirmation"],
  notify_and_proceed: ["Notify", "Notify user but proceed"],
  requires_approval: ["Ask first", "Confirm all changes before proceeding"],
};
const ORDER = Object.keys(LEVELS);

export const isLooser = (before, after) => ORDER.indexOf(after) < ORDER.indexOf(before);

const WHAT_THEN = {
  automated: "Agents will make such changes without asking and without telling anybody.",
  notify_and_proceed: "Agents will make such changes at once; people are told afterwards.",
};

function Loosen({ category, before, after, isSending, onYes, onNo }) {
  return html`<div class="second" role="group" aria-label="Loosen ${CATEGORIES[category][0]}">
    <p>
      <${Icon} name="i-alert" /><span
        ><b>${CATEGORIES[category][0]}: from ${LEVELS[before][0]} to ${LEVELS[after][0]}?</b> ${WHAT_THEN[after]} Your
        name stands beside it in the log.</span
      >
    </p>
    <div class="second-do">
      <button class="btn btn-warn" type="button" aria-disabled=${isSending ? "true" : null} onClick=${onYes}>
        Loosen it
      </button>
      <button class="btn" type="button" onClick=${onNo}>Keep ${LEVELS[before][0]}</button>
    </div>
  </div>`;
}

function Category({ category, level, wanted, onChoose, children }) {
  const [title, words] = CATEGORIES[category];
  return html`<fieldset>
    <legend>${title}<code>${category}</code></legend>
    <p class="why">${words}</p>
    <div class="levels levels-3">
      ${ORDER.map(
        (each) => html`<label class="level" key=${each}>
          <input type="radio" name=${`policy-${category}`} value=${each} checked=${each === (wanted ?? level)}
            onChange=${() => onChoose(each)} />
          <b><${Icon} name="i-tick" />${LEVELS[each][0]}</b><small>${LEVELS[each][1]}</small>
        </label>`,
      )}
    </div>
    ${children}
  </fieldset>`;
}

export function Policy({ project }) {
  const [policy, setPolicy] = useState(null);
  const [wanted, setWanted] = useState(null); // { category, level, key } of a step that is not taken yet
  const [isSending, setSending] = useState(false);
  const [said, setSaid] = useState("");
  const load = useCallback(
    () => get(projectPath(project, "policy")).then(setPolicy, (error) => setSaid(error.message)),
    [project],
  );
  useEffect(() => {
    void load();
    return onEvent((event) => event.project === project && event.type === "policy.set" && void load());
  }, [load]);
  const send = async (category, level, key) => {
    setSending(true);
    try {
      const body = { hilConfig: { [category]: level } };
      const found = await request("PUT", projectPath(project, "policy"), { body, key });
      setPolicy(found);
      setWanted(null);
      setSaid(`${CATEGORIES[category][0]}: ${LEVELS[level][0]}. It holds from now on.`);
    } catch (error) {
      setSaid(`Not changed. ${error.message}`);
      // What was to be loosened can be sent again; nothing looks tighter than it is.
      if (!error.isOffline || !isLooser(policy.hilConfig[category], level)) setWanted(null);
    }
    setSending(false);
  };
  const choose = (category, level) => {
    const before = policy.hilConfig[category];
    const key = newKey();
    if (level === before) return setWanted(null);
    setSaid("");
    setWanted({ category, level, key });
    if (!isLooser(before, level)) void send(category, level, key);
  };
  return html`<section aria-labelledby="s-policy">
    <div>
      <h2 id="s-policy">When agents must ask</h2>
      <p class="why">
        Per kind of change. Agents read it before they start. A category without a value asks. Loosening one needs a
        signed-in person and is written to the log. Failed tests and retries are the agents’ own: nobody is
        asked about them.
      </p>
    </div>
    <div class="policy">
      ${policy &&
      Object.keys(CATEGORIES).map((category) => {
        const before = policy.hilConfig[category];
        const mine = wanted?.category === category ? wanted : null;
        return html`<${Category} key=${category} category=${category} level=${before} wanted=${mine?.level}
          onChoose=${(level) => choose(category, level)}>
          ${mine && isLooser(before, mine.level) &&
          html`<${Loosen} category=${category} before=${before} after=${mine.level}
            isSending=${isSending} onYes=${() => !isSending && void send(category, mine.level, mine.key)}
            onNo=${() => setWanted(null)} />`}
        <//>`;
      })}
      <p class="label" role="status">
        ${said || (policy?.set_at
          ? html`Last change: <${Text} value=${nameOnly(policy.set_by)} />, ${moment(policy.set_at)}, event
              ${` ${policy.sequence}`}.`
          : policy && "Nobody has set anything yet, so agents ask about all of it.")}
      </p>
    </div>
  </section>`;
}
