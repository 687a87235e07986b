// How one person likes this page on this device: kept in this browser, told to nobody.

const PLACE = "assent-taste";

// Each with what may be chosen; the first is what holds until somebody chooses.
const CHOICES = {
  theme: ["system", "light", "dark"],
  density: ["roomy", "compact"],
  sound: [false, true],
  notify: [false, true],
};

// What was kept may be of an older page, or somebody else's: only what is on the list counts.
export function readTaste(text) {
  let kept;
  try {
    kept = JSON.parse(text ?? "null");
  } catch {
    kept = null;
  }
  const entries = Object.entries(CHOICES).map(([name, allowed]) => {
    const found = kept && typeof kept === "object" ? kept[name] : undefined;
    return [name, allowed.includes(found) ? found : allowed[0]];
  });
  return Object.fromEntries(entries);
}

const listeners = new Set();
let taste = readTaste(load());

function load() {
  try {
    return globalThis.localStorage?.getItem(PLACE) ?? null;
  } catch {
    return null; // this browser keeps nothing for this page
  }
}

export const get = (name) => taste[name];

export function set(name, value) {
  if (!CHOICES[name]?.includes(value) || taste[name] === value) return;
  take({ ...taste, [name]: value });
  try {
    globalThis.localStorage?.setItem(PLACE, JSON.stringify(taste));
  } catch {
    // it holds until the page is closed
  }
}

export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function take(next) {
  taste = next;
  show();
  for (const listener of [...listeners]) listener(taste);
}

// The tokens follow the system by themselves; only what was chosen is pinned.
function show() {
  const root = globalThis.document?.documentElement;
  if (!root) return;
  if (taste.theme === "system") delete root.dataset.theme;
  else root.dataset.theme = taste.theme;
  if (taste.density === "roomy") delete root.dataset.density;
  else root.dataset.density = taste.density;
}

// Another window of the same person follows at once.
globalThis.addEventListener?.("storage", ({ key, newValue }) => {
  if (key === PLACE) take(readTaste(newValue));
});
show();
