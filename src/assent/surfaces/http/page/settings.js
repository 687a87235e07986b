// Settings: what holds in a project for everybody, and what one person likes on this device.

import { html, useEffect, useState } from "/page/html.js";
import { Icon } from "/page/icons.js";
import { href } from "/page/route.js";
import { Policy } from "/page/settings-policy.js";
import { Tokens } from "/page/settings-tokens.js";
import { useStore } from "/page/store.js";
import { get, set, subscribe } from "/page/taste.js";
import { plain, Text } from "/page/text.js";

function useTaste(name) {
  const [value, setValue] = useState(() => get(name));
  useEffect(() => subscribe(() => setValue(get(name))), [name]);
  return [value, (next) => set(name, next)];
}

function Levels({ legend, name, value, choices, onChoose }) {
  return html`<fieldset>
    <legend>${legend}</legend>
    <div class="levels levels-${choices.length}">
      ${choices.map(
        ([key, title, words]) => html`<label class="level" key=${key}>
          <input type="radio" name=${name} value=${key} checked=${key === value} onChange=${() => onChoose(key)} />
          <b><${Icon} name="i-tick" />${title}</b><small>${words}</small>
        </label>`,
      )}
    </div>
  </fieldset>`;
}

function Switch({ label, words, checked, onChange, id }) {
  return html`<div class="switch">
    <input type="checkbox" role="switch" id=${id} checked=${checked} aria-describedby=${`${id}-words`}
      onChange=${(event) => onChange(event.currentTarget.checked)} />
    <label for=${id}>${label}</label>
    <p class="why" id=${`${id}-words`}>${words}</p>
  </div>`;
}

// A browser asks its own question, and only after a click: so it is asked here, and the switch says what came of it.
function Notify() {
  const [isOn, setOn] = useTaste("notify");
  const [right, setRight] = useState(globalThis.Notification?.permission ?? "missing");
  const change = async (wanted) => {
    if (!wanted) return setOn(false);
    const given = right === "default" ? await Notification.requestPermission() : right;
    setRight(given);
    setOn(given === "granted");
  };
  const words = {
    missing: "This browser has none for this page.",
    denied: "This browser was told to show none for this page; allow them in its own settings first.",
  }[right];
  return html`<${Switch} id="taste-notify" label="Desktop notifications" checked=${isOn && right === "granted"}
    onChange=${change}
    words=${words ?? "When something new waits and you look elsewhere: its kind, project and title, no more."} />`;
}

function Device() {
  const [theme, setTheme] = useTaste("theme");
  const [density, setDensity] = useTaste("density");
  const [sound, setSound] = useTaste("sound");
  return html`<section aria-labelledby="s-device">
    <div>
      <h2 id="s-device">You, on this device</h2>
      <p class="why">Kept in this browser and told to nobody. Other people and other devices are not touched.</p>
    </div>
    <div class="policy">
      <${Levels} legend="Theme" name="theme" value=${theme} onChoose=${setTheme} choices=${[
        ["system", "System", "As this device is set"],
        ["light", "Light", "Paper by day"],
        ["dark", "Dark", "Ink by night"],
      ]} />
      <${Levels} legend="Size" name="density" value=${density} onChoose=${setDensity} choices=${[
        ["roomy", "Roomy", "As it was drawn"],
        ["compact", "Compact", "A little smaller, more at once"],
      ]} />
      <${Switch} id="taste-sound" label="Sound" checked=${sound} onChange=${setSound}
        words="One short tone when something new waits." />
      <${Notify} />
    </div>
  </section>`;
}

export function Settings({ route }) {
  const projects = useStore((state) => state.projects);
  const who = useStore((state) => state.who);
  const asked = route.parts[0];
  const project = projects.includes(asked) ? asked : projects[0];
  return html`<div class="page">
    <div class="page-head">
      <h1>Settings</h1>
      ${projects.length > 1 &&
      html`<nav class="tabs" aria-label="Settings of a project">
        ${projects.map(
          (name) => html`<a key=${name} href=${href("settings", name)} aria-current=${name === project ? "page" : null}
            ><${Text} value=${name} /></a
          >`,
        )}
      </nav>`}
      ${projects.length === 1 && html`<span class="quiet"><${Text} value=${project} /></span>`}
    </div>
    <div class="page-body">
      ${asked && asked !== project && html`<p class="note" role="status">
        There is no project “${plain(asked)}” that you can see; this is ${project ? plain(project) : "the rest"}.
      </p>`}
      <div class="settings" key=${project}>
        ${project && html`<${Policy} project=${project} />`}
        ${project && html`<${Tokens} project=${project} who=${who} />`}
        <${Device} />
      </div>
    </div>
  </div>`;
}
