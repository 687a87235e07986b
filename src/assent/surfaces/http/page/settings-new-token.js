// A new credential. Its secret is in this page's memory for as long as it is shown, and nowhere else: nobody can
// show it a second time.

import { html, useRef, useState } from "/page/html.js";
import { newKey, projectPath, request } from "/page/api.js";
import { Icon } from "/page/icons.js";
import { Text } from "/page/text.js";

const DAY = 86_400;
const LIVES = [
  [DAY, "in 1 day"],
  [30 * DAY, "in 30 days"],
  [90 * DAY, "in 90 days"],
  [366 * DAY, "in 366 days"],
];
const ROLES = [
  ["agent", "agent: may ask only"],
  ["observer", "observer: may look"],
  ["human", "human: may answer"],
  ["operator", "operator: may steer runs"],
];
// As the command line does: an agent’s lives for a day, everybody else’s for a month.
const usualLife = (role) => (role === "agent" ? DAY : 30 * DAY);

function Secret({ made, onClose }) {
  const [isCopied, setCopied] = useState(false);
  const code = useRef();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.token);
      setCopied(true);
    } catch {
      getSelection().selectAllChildren(code.current); // this browser gives no clipboard; it can be copied by hand
    }
  };
  return html`<div class="secret" role="group" aria-label="The new token">
    <p>
      <b><${Text} value=${made.name} />, ${made.role}.</b> Copy its secret now: it is shown this once, and kept
      nowhere.
    </p>
    <p class="secret-line">
      <code ref=${code} tabindex="0">${made.token}</code>
      <button class="btn btn-main" type="button" onClick=${() => void copy()}>
        <${Icon} name=${isCopied ? "i-tick" : "i-copy"} />${isCopied ? "Copied" : "Copy"}
      </button>
    </p>
    <p class="why">
      ${made.role === "agent"
        ? html`For the agent: <code>ASSENT_STORE=${location.origin}</code> and <code>ASSENT_TOKEN=</code> with the
            secret.`
        : html`To sign in with it: <code>${location.origin}/sign-in</code>`}
    </p>
    <div><button class="btn btn-small" type="button" onClick=${onClose}>I have it</button></div>
    <span class="sr" role="status">${isCopied ? "Copied" : ""}</span>
  </div>`;
}

export function NewToken({ project, who, onMade }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("agent");
  const [life, setLife] = useState(usualLife("agent"));
  const [isWide, setWide] = useState(false);
  const [made, setMade] = useState(null);
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const key = useRef(newKey());
  const input = useRef();
  const mayWiden = who?.projects?.includes("*");
  const make = async (event) => {
    event.preventDefault();
    if (isSending) return;
    if (!name.trim()) {
      setProblem("Give it a name first: it stands beside everything that is done with it.");
      return input.current.focus();
    }
    setSending(true);
    setProblem("");
    try {
      const body = { role, name: name.trim(), life_seconds: life, ...(isWide ? { projects: ["*"] } : {}) };
      setMade(await request("POST", projectPath(project, "tokens"), { body, key: key.current }));
      setName("");
      key.current = newKey();
      onMade();
    } catch (error) {
      // A request whose reply was lost is the same one when it is sent again; any other refusal ends it.
      if (!error.isOffline) key.current = newKey();
      setProblem(
        error.code === "command_reused"
          ? "It was made, but its secret was lost on the way. Revoke it above, and make another."
          : error.message,
      );
      if (error.code === "command_reused") onMade();
    }
    setSending(false);
  };
  if (made) return html`<${Secret} made=${made} onClose=${() => setMade(null)} />`;
  return html`<form class="inline" onSubmit=${make} aria-label="New token">
    <label>Name<input class="field" type="text" ref=${input} value=${name} maxlength="100" autocomplete="off"
      placeholder=${role === "human" ? "sam-k" : "ci-runner"} aria-describedby="new-token-problem"
      onInput=${(event) => setName(event.currentTarget.value)} /></label>
    <label>Role<select class="field" value=${role} onChange=${(event) => {
      setRole(event.currentTarget.value);
      setLife(usualLife(event.currentTarget.value));
    }}>${ROLES.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select></label>
    <label>Ends<select class="field" value=${String(life)}
      onChange=${(event) => setLife(Number(event.currentTarget.value))}>
      ${LIVES.map(([value, words]) => html`<option key=${value} value=${String(value)}>${words}</option>`)}
    </select></label>
    ${mayWiden &&
    html`<label>Holds in<select class="field" value=${isWide ? "all" : "one"}
      onChange=${(event) => setWide(event.currentTarget.value === "all")}>
      <option value="one">this project</option>
      <option value="all">all projects</option>
    </select></label>`}
    <button class="btn btn-main" type="submit" aria-disabled=${isSending ? "true" : null}>Create token</button>
    <p class="problem" id="new-token-problem" role="status">${problem && html`<${Icon} name="i-alert" />${problem}`}</p>
  </form>`;
}
