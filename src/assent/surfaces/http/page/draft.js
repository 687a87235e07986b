// What somebody has marked or written and not sent yet, kept on this device: it survives live updates, a reload, and losing
// to somebody else. It goes when the answer is accepted, or after a while.

const PREFIX = "assent-draft.";
const KEPT_MS = 14 * 86_400_000;

export function readDraft(askId) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + askId)) ?? null;
  } catch {
    return null; // a private window, or somebody else's words under our name
  }
}

export function keepDraft(askId, reply) {
  try {
    localStorage.setItem(PREFIX + askId, JSON.stringify({ reply, at: Date.now() }));
    return true;
  } catch {
    return false; // it lives as long as the page
  }
}

export function dropDraft(askId) {
  try {
    localStorage.removeItem(PREFIX + askId);
  } catch {
    // nothing was kept
  }
}

export function sweepDrafts(now = Date.now()) {
  try {
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith(PREFIX)) continue;
      const draft = readDraft(name.slice(PREFIX.length));
      if (!draft || now - draft.at > KEPT_MS) localStorage.removeItem(name);
    }
  } catch {
    // nothing is kept here
  }
}
