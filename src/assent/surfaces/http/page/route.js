// Where the page is, as the part of the address behind the #: it never reaches a server, and the back button works.

import { useLayoutEffect, useState } from "/page/html.js";

const PAGES = new Set(["inbox", "runs", "history", "numbers", "settings", "walk"]);

export function parse(hash) {
  const [path, words = ""] = hash.replace(/^#/, "").split("?");
  const [page = "", ...parts] = path.split("/").filter(Boolean).map(unescape);
  return { page: PAGES.has(page) ? page : "inbox", parts, query: new URLSearchParams(words) };
}

function unescape(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a stray %
  }
}

export const href = (page, ...parts) => `#/${[page, ...parts].map(encodeURIComponent).join("/")}`;

// A list that was narrowed to a project stays so, whichever ask of it is opened.
export function askHref(ask) {
  const only = parse(location.hash).query.get("project");
  const words = only === ask.project ? `?project=${encodeURIComponent(only)}` : "";
  return `${href("inbox", ask.project, ask.ask_id)}${words}`;
}

export const go = (address) => (location.hash = address);

// Without an entry of its own in the history: whoever goes back must not be sent here again.
export function replace(address) {
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useLayoutEffect(() => {
    const look = () => setRoute(parse(location.hash));
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return route;
}
