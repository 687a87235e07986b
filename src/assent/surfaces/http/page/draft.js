// What somebody has marked or written and not sent yet, kept on this device: it survives live updates, a reload, and losing
// to somebody else. It goes when the answer is accepted, when they sign out, or after a while.
//
// Rule: it is the draft of one person. Whoever signs in after them on the same device neither sees it nor sends it.

const PREFIX = "assent-draft.";
const KEPT_MS = 14 * 86_400_000;

// By ask and person: two who share a device do not write over each other's.
const nameOf = (askId, by) => `${PREFIX}${askId}.${by}`;

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? null;
  } catch {
    return null; // a private window, or somebody else's words under our name
  }
}

export const readDraft = (askId, by) => read(nameOf(askId, by));

export function keepDraft(askId, by, reply) {
  try {
    localStorage.setItem(nameOf(askId, by), JSON.stringify({ reply, by, at: Date.now() }));
    return true;
  } catch {
    return false; // it lives as long as the page
  }
}

export function dropDraft(askId, by) {
  try {
    localStorage.removeItem(nameOf(askId, by));
  } catch {
    // nothing was kept
  }
}

function dropWhere(isOver) {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && isOver(read(name))) localStorage.removeItem(name);
    }
  } catch {
    // nothing is kept here
  }
}

export const sweepDrafts = (now = Date.now()) => dropWhere((draft) => !draft || now - draft.at > KEPT_MS);

// All that somebody has left on this device.
export const dropDraftsOf = (by) => dropWhere((draft) => draft?.by === by);
