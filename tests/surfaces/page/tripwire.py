"""What is looked for wherever an attacker's text is shown: whether it ran, loaded, led away, hid, or pushed anything aside."""

from __future__ import annotations

from typing import Any

import msgspec
from playwright.sync_api import BrowserContext, Dialog, Frame, Page

from tests.surfaces.page.browsing import Mishaps
from torture.hostile_cases import hidden_in

__all__ = ["Tripwire", "sideways"]

# Before any script of the page. A text that runs sets `hacked`; a text that is read as markup breaks the policy, or
# becomes an element that this page never draws.
_SET = """
window.hacked = 0;
window.breaches = [];
document.addEventListener("securitypolicyviolation", (event) =>
  breaches.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
_LOOK = """
() => {
  const root = document.getElementById("root");
  const tags = new Set(`A ABBR ASIDE B BDI BLOCKQUOTE BR BUTTON CAPTION CODE DD DETAILS DIALOG DIV DL DT EM FIELDSET FORM H1
    H2 H3 H4 H5 H6 HEADER FOOTER HR I INPUT KBD LABEL LEGEND LI MAIN NAV OL OPTION P PRE S SECTION SELECT SMALL SPAN
    STRONG SUMMARY TABLE TBODY TD TEXTAREA TFOOT TH THEAD TIME TR UL FIGURE FIGCAPTION OUTPUT svg g path rect circle
    line text use symbol polyline polygon title desc defs ellipse clipPath pattern tspan`.split(/\\s+/));
  const found = [];
  if (window.hacked) found.push("hacked");
  if (({}).polluted !== undefined) found.push("the prototype of all objects was changed");
  for (const breach of window.breaches) found.push(`breach: ${breach}`);
  for (const element of root.querySelectorAll("*")) {
    if (!tags.has(element.tagName)) found.push(`element <${element.tagName}>`);
    for (const { name, value } of element.attributes) {
      // The page itself gives its list room below, by script, so that a row stays where it is; nobody else writes styles.
      const isOurs = name === "style" && element.matches(".rows > *") && /^(padding-bottom: [\\d.]+px;)?$/.test(value);
      if (/^on/i.test(name) || (name === "style" && !isOurs) || name === "srcdoc") found.push(`attribute ${name}=${value}`);
      if (/^(href|src|action|formaction|xlink:href|data|poster)$/i.test(name) &&
          !/^(#|\\/|https?:\\/\\/|mailto:)/.test(value)) found.push(`attribute ${name}=${value}`);
      if (/^(src|action|formaction|data|poster)$/i.test(name)) found.push(`attribute ${name}=${value}`);
    }
    if (element.tagName === "A" && /^https?:|^mailto:/.test(element.getAttribute("href") ?? "") &&
        !(element.rel.includes("noopener") && element.target === "_blank")) found.push(`link ${element.href}`);
  }
  return { found: found.slice(0, 20), text: root.innerText };
}
"""
# What may be scrolled to the side by itself: lines whose breaks mean something, and tables.
_SIDEWAYS = """
() => {
  const wide = [];
  const nameOf = (element) => `${element.tagName.toLowerCase()}.${[...element.classList].join(".")}`;
  // The one that reaches farthest out, so that one knows where to look.
  const culprit = (element) => {
    const right = (each) => each.getBoundingClientRect().right;
    const [at] = [...element.querySelectorAll("*")].sort((a, b) => right(b) - right(a));
    return `${nameOf(at)} in ${nameOf(at.parentElement)} in ${nameOf(at.parentElement.parentElement)}`;
  };
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) wide.push(`the page: ${page.scrollWidth} of ${innerWidth}`);
  for (const element of document.querySelectorAll("#root *, body > *")) {
    const { overflowX } = getComputedStyle(element);
    if (element.scrollWidth <= element.clientWidth + 1 || element.closest("svg")) continue;
    if (!["auto", "scroll"].includes(overflowX) || element.closest("pre, .tablewrap, .tail, .action-body")) continue;
    wide.push(`${nameOf(element)} ${element.scrollWidth} of ${element.clientWidth}, by ${culprit(element)}`);
  }
  return wide;
}
"""


class _Looked(msgspec.Struct, frozen=True):
    found: list[str]
    text: str


class Tripwire:
    """Stretched through a window before anything is shown in it."""

    def __init__(self, context: BrowserContext, mishaps: Mishaps) -> None:
        self._mishaps = mishaps
        self._seen: list[str] = []
        context.add_init_script(_SET)
        context.on("page", lambda page: self._seen.append(f"another window: {page.url}"))
        for page in context.pages:
            self._watch(page)

    def _watch(self, page: Page) -> None:
        page.on("dialog", self._speak)
        page.on("framenavigated", self._go)

    def _speak(self, dialog: Dialog) -> None:
        self._seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _go(self, frame: Frame) -> None:
        if frame.parent_frame or not frame.url.startswith((self._mishaps.origin, "about:blank")):
            self._seen.append(f"went to {frame.url}")

    def look(self, page: Page) -> list[str]:
        """Return what happened that must not, or stands on the page and should not."""
        told = msgspec.convert(page.evaluate(_LOOK), _Looked)
        hidden = [f"hidden: {mark}" for mark in hidden_in(told.text, allowed="\n\t\u00a0")]
        seen, self._seen = self._seen, []
        noted = self._mishaps.unpardoned
        self._mishaps.clear()
        return [*told.found, *hidden, *seen, *noted, *sideways(page)]


def sideways(page: Page) -> list[str]:
    """Return what is wider than the place it has."""
    wide: Any = page.evaluate(_SIDEWAYS)
    return [f"sideways: {each}" for each in wide]
