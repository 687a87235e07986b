// What is said of asks beside the page: in the tab's title and icon, and in a notification of the desktop. Pure.
//
// A notification is read by whoever sees the screen, over a shoulder or on a lock screen. So it says what sort of thing
// waits, where, and its title; what the agent wrote about it is on the page alone.

import { kindOf, titleOf } from "/page/rows.js";
import { plain } from "/page/text.js";

const MOST_COUNTED = 9; // an icon has room for one digit
const MOST_SINGLE = 3; // so many that come together are told one by one; more of them in one sentence
const MOST_TEXT = 140;

export const openOnes = (asks) => [...asks.values()].filter((ask) => ask.state === "open");

export const tabTitle = (count) => (count === 0 ? "Assent" : `(${count}) Assent`);

export function tabIcon(count) {
  if (count === 0) return "/page/mark.svg";
  return `/page/favicon-${count > MOST_COUNTED ? "many" : count}.svg`;
}

// Which asks were not there before. A page that has just been opened tells nobody of what waited before.
export function arrivals(known, open) {
  return known === null ? [] : open.filter((ask) => !known.has(ask.ask_id));
}

const cut = (text) => {
  const signs = [...text];
  return signs.length > MOST_TEXT ? `${signs.slice(0, MOST_TEXT - 1).join("")}…` : text;
};

// Returns { tag, title, body, ask }: the same tag in another tab of the same person is the same notification.
export function notices(arrived) {
  if (arrived.length > MOST_SINGLE) {
    const projects = [...new Set(arrived.map((ask) => ask.project))].sort();
    const title = `${arrived.length} asks wait for you`;
    return [{ tag: "many", title, body: cut(plain(projects.join(", "))), ask: null }];
  }
  return arrived.map((ask) => ({
    tag: ask.ask_id,
    title: cut(plain(`${kindOf(ask).name}, ${ask.project}`)),
    body: cut(plain(titleOf(ask))),
    ask,
  }));
}
