// Tells people beside the page that something waits: count in the tab, notification of the desktop, and a short tone. The
// last two only where the person switched them on, and the first of those only while they do not look at the page.

import { useEffect, useRef } from "/page/html.js";
import { arrivals, notices, openOnes, tabIcon, tabTitle } from "/page/notice.js";
import { askHref, go } from "/page/route.js";
import { useStore } from "/page/store.js";
import { get } from "/page/taste.js";

const TONE_HERTZ = 660;
const TONE_SECONDS = 0.18;
const TONE_LOUDNESS = 0.06;
const QUIET_MS = 3_000; // asks that come together are one tone
const LATE_MS = 500;

const shown = new Map(); // notifications on the desktop, by tag
let audio = null;
let lastTone = -QUIET_MS;

export function useNotices(asks) {
  const known = useRef(null);
  const isLoaded = useStore((state) => state.isLoaded);
  useEffect(() => {
    const open = openOnes(asks);
    count(open.length);
    withdraw(new Set(open.map((ask) => ask.ask_id)));
    if (!isLoaded) return;
    const arrived = arrivals(known.current, open);
    known.current = new Set(open.map((ask) => ask.ask_id));
    if (arrived.length === 0) return;
    if (get("sound")) playTone();
    if (get("notify") && document.visibilityState !== "visible") for (const notice of notices(arrived)) show(notice);
  }, [asks, isLoaded]);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && withdraw(new Set());
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
}

function count(number) {
  document.title = tabTitle(number);
  const icon = document.querySelector('link[rel="icon"]');
  if (icon !== null && icon.getAttribute("href") !== tabIcon(number)) icon.setAttribute("href", tabIcon(number));
}

function show({ tag, title, body, ask }) {
  if (globalThis.Notification?.permission !== "granted") return;
  try {
    const told = new Notification(title, { body, tag, icon: "/page/mark.svg" });
    shown.set(tag, told);
    told.onclick = () => {
      window.focus();
      go(ask === null ? "#/inbox" : askHref(ask));
      told.close();
    };
    told.onclose = () => shown.get(tag) === told && shown.delete(tag);
  } catch {
    // Some phones have the word and not the thing: the count in the tab is all there is then.
  }
}

// What has ended, or is being looked at, is no news any more.
function withdraw(stillOpen) {
  for (const [tag, told] of [...shown]) {
    if (stillOpen.has(tag) || (tag === "many" && stillOpen.size > 0)) continue;
    shown.delete(tag);
    told.close();
  }
}

// A soft tone without a file. Browsers let a page sound only after somebody has touched it; until then it stays silent.
async function playTone() {
  const began = performance.now();
  if (began - lastTone < QUIET_MS) return;
  lastTone = began;
  try {
    audio ??= new AudioContext();
    if (audio.state !== "running") await audio.resume();
    if (performance.now() - began > LATE_MS) return; // the touch came long after the news
    const [tone, loudness, now] = [audio.createOscillator(), audio.createGain(), audio.currentTime];
    tone.frequency.value = TONE_HERTZ;
    loudness.gain.setValueAtTime(TONE_LOUDNESS, now);
    loudness.gain.exponentialRampToValueAtTime(TONE_LOUDNESS / 100, now + TONE_SECONDS);
    tone.connect(loudness).connect(audio.destination);
    tone.start(now);
    tone.stop(now + TONE_SECONDS);
  } catch {
    // No sound here; nothing depends on it.
  }
}
