// The exact thing that an approval is for: readable first, raw beside it, both whole. Agents give actions any shape, so
// the readable form is a walk through the JSON that leaves nothing out; commands and differences are drawn as such.

import { html, useState } from "/page/html.js";
import { Diff, isDiff } from "/page/diff.js";
import { breakLines, inOrder, isObject, spell } from "/page/json.js";
import { Text } from "/page/text.js";

const COMMANDS = new Set(["command", "cmd", "run", "shell"]);
const ARGUMENTS = new Set(["argv", "args", "command"]);
const NAMES = ["path", "file", "filename", "name"];

// Quotes an argument as a shell would want it, so that what is shown is what would run.
export const shellWord = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export function commandOf(key, value) {
  if (COMMANDS.has(key) && typeof value === "string") return value;
  const isArguments = ARGUMENTS.has(key) && Array.isArray(value) && value.length > 0;
  return isArguments && value.every((word) => typeof word === "string") ? value.map(shellWord).join(" ") : null;
}

// The part of an object that only says which file its difference is of: it stands at the head of that.
function titleOf(value) {
  const hasDiff = Object.values(value).some(isDiff);
  return hasDiff ? NAMES.find((key) => typeof value[key] === "string") : undefined;
}

// What stands first, for the heading: commands and files are counted, the rest is parts.
export function inventory(action) {
  let [commands, files, parts] = [0, 0, 0];
  const walk = (value, key) => {
    if (commandOf(key, value) !== null) commands += 1;
    else if (isDiff(value)) files += 1;
    else if (Array.isArray(value)) value.forEach((each) => walk(each, ""));
    else if (isObject(value)) {
      const title = titleOf(value);
      Object.entries(value).forEach(([name, each]) => name !== title && walk(each, name));
    }
    else parts += 1;
  };
  walk(action, "");
  const said = (count, one, more) => count && `${count} ${count === 1 ? one : more}`;
  return [said(commands, "command", "commands"), said(files, "file", "files"), said(parts, "value", "values")]
    .filter(Boolean)
    .join(", ");
}

// A text stands between quotes, so that it is not taken for what stands without: "false" is not false.
const Scalar = ({ value }) =>
  typeof value === "string"
    ? html`<code class="value">"<${Text} value=${value} exact />"</code>`
    : html`<code class="value">${spell(value)}</code>`;

const Values = ({ values }) =>
  html`[${values.map((each, at) => html`${at > 0 && ", "}<${Scalar} value=${each} />`)}]`;

function Part({ name, value }) {
  const command = commandOf(name, value);
  if (command !== null) {
    return html`<p class="cmd"><span class="at">$</span><code><${Text} value=${command} exact /></code></p>`;
  }
  if (isDiff(value)) return html`<${Diff} text=${value} name=${name || "difference"} />`;
  if (isObject(value)) return html`<${Thing} value=${value} name=${name} />`;
  if (Array.isArray(value) && value.some((each) => isObject(each) || Array.isArray(each))) {
    return value.map((each, at) => html`<${Part} name=${`${name} ${at + 1}`} value=${each} key=${at} />`);
  }
  return html`<div class="pair">
    <span class="pair-name"><${Text} value=${name || "value"} exact /></span>
    <span>${Array.isArray(value) ? html`<${Values} values=${value} />` : html`<${Scalar} value=${value} />`}</span>
  </div>`;
}

// An object; one that is a file and its difference is drawn as that, with whatever else it says.
function Thing({ value, name }) {
  const title = titleOf(value);
  const entries = inOrder(value);
  if (!entries.length) {
    return html`<div class="pair">
      <span class="pair-name"><${Text} value=${name || "value"} exact /></span><span><code class="value">{}</code></span>
    </div>`;
  }
  return html`<div class=${name ? "thing" : ""}>
    ${name && !title && html`<p class="file"><span><${Text} value=${name} exact /></span></p>`}
    ${entries.map(([key, each]) =>
      key === title
        ? null
        : html`<${Part} name=${isDiff(each) && title ? value[title] : key} value=${each} key=${key} />`,
    )}
  </div>`;
}

export function Action({ ask }) {
  const { action } = ask.prompt;
  const [isRaw, setRaw] = useState(false);
  const raw = spell(action, "  ", "", inOrder);
  const lines = raw.split("\n").length;
  return html`<section class="action" aria-labelledby="t-action">
    <div class="action-head">
      <h3 id="t-action">${ask.state === "open" ? "What will run" : "What it was about"}</h3>
      <span class="quiet">${inventory(action)}</span>
      <span class="push tabs" role="group" aria-label="How it is shown">
        <button type="button" class="tab" aria-pressed=${isRaw ? "false" : "true"} onClick=${() => setRaw(false)}>Readable</button>
        <button type="button" class="tab" aria-pressed=${isRaw ? "true" : "false"} onClick=${() => setRaw(true)}>Raw JSON</button>
      </span>
    </div>
    ${isRaw
      ? html`<pre class="raw" tabindex="0" role="region" aria-label="The action as JSON"><${Text} value=${breakLines(raw)} lines exact /></pre>`
      : html`<div class="action-body" tabindex="0" role="region" aria-label="The action, readable">
          <${Part} name="" value=${action} />
        </div>`}
    <p class="action-foot">
      <span>Shown in full: ${lines} ${lines === 1 ? "line" : "lines"} of JSON, nothing cut</span>
      ${ask.digest && html`<span class="mono">${shortDigest(ask.digest)}</span><span>the receipt is bound to this</span>`}
    </p>
  </section>`;
}

export function shortDigest(digest) {
  const hex = digest.replace(/^sha256:/, "");
  return `sha256 ${hex.slice(0, 4)} ${hex.slice(4, 8)} … ${hex.slice(-4)}`;
}
