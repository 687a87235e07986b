// Says which ask is looked at here, and hears who else looks at what. A courtesy: it decides nothing, and a server that
// knows nothing of it changes nothing.

import { get, newKey, projectPath, request } from "/page/api.js";
import { change, getState, takeAsks } from "/page/store.js";
import { nameOnly } from "/page/text.js";

const BEAT_MS = 5_000;
const page = newKey();
let shown = { project: null, ask_id: null };

async function tell() {
  const { who, link } = getState();
  if (!who || !link.isOnline || who.role === "agent") return;
  const isVisible = document.visibilityState === "visible";
  const here = isVisible ? shown : { project: null, ask_id: null };
  try {
    const { present } = await request("PUT", "/presence", { body: { page, ...here } });
    if (JSON.stringify(present) !== JSON.stringify(getState().presence)) change({ presence: present });
    if (here.ask_id) await lookAgain(here.project, here.ask_id);
  } catch {
    // who else is here is not known just now
  }
}

// Neither a claim nor the death of an asker is an event: whoever has an ask before them asks for it anew now and then.
async function lookAgain(project, askId) {
  const known = getState().asks.get(askId);
  if (known?.state !== "open") return;
  const ask = await get(projectPath(project, "asks", askId));
  const untold = ({ claim, is_asker_gone: isGone }) => JSON.stringify([claim, Boolean(isGone)]);
  if (untold(ask) !== untold(known)) takeAsks([ask]);
}

export function look(project, askId) {
  shown = { project, ask_id: askId };
  void tell();
  return () => (shown = { project: null, ask_id: null });
}

export function startPresence() {
  setInterval(tell, BEAT_MS);
  addEventListener("visibilitychange", tell);
}

// Who else looks at an ask or has claimed it, in a few words.
export function othersAt(ask, presence, who) {
  const looking = presence.filter((each) => each.ask_id === ask.ask_id).map((each) => nameOnly(each.by));
  const claimed = ask.claim && nameOnly(ask.claim.by);
  if (claimed && claimed !== who?.name) return `${claimed} has claimed it`;
  if (looking.length > 1) return `${looking[0]} and ${looking.length - 1} more are looking`;
  return looking.length ? `${looking[0]} is looking` : claimed ? "you have claimed it" : "";
}
