// Markdown as the server read it: a tree of names and texts. Nothing here is ever read as HTML, so there is nothing in an
// agent's words that could run, load or reach out; a link says where it leads.

import { h, html, useEffect, useState } from "/page/html.js";
import { get, projectPath } from "/page/api.js";
import { plain, Text } from "/page/text.js";

const TAGS = new Set(
  ("p h3 h4 h5 h6 ul ol li blockquote pre code em strong s a hr br table thead tbody tr th td").split(" "),
);
const SAFE_LINK = /^(https?:\/\/|mailto:)/i;

// A paragraph is read in its own direction; code in the order in which it stands.
const BLOCKS = new Set("p h3 h4 h5 h6 li blockquote th td".split(" "));

function draw(node, isCode = false) {
  if (typeof node === "string") return html`<${Text} value=${node} lines code=${isCode} bare />`;
  const [tag, attributes, ...children] = node;
  const inner = children.map((child) => draw(child, isCode || tag === "code" || tag === "pre"));
  if (!TAGS.has(tag)) return inner;
  if (tag === "hr" || tag === "br") return h(tag);
  if (tag === "pre") return html`<pre tabindex="0">${inner}</pre>`;
  if (tag === "table") return html`<div class="tablewrap" tabindex="0"><table class="table">${inner}</table></div>`;
  if (tag !== "a") return h(tag, BLOCKS.has(tag) ? { dir: "auto" } : null, inner);
  const { href } = attributes;
  if (!SAFE_LINK.test(href ?? "")) return inner;
  return html`<a href=${href} target="_blank" rel="noopener noreferrer nofollow" title=${plain(href)}>${inner}</a>`;
}

export const Prose = ({ tree }) => html`<div class="prose">${tree.map((node) => draw(node))}</div>`;

// A prompt never changes, so what was read of it once is kept; the last few are enough for going back and forth.
const read = new Map();
const KEPT = 200;

export function useProse(ask) {
  const { project, ask_id: askId } = ask;
  const key = `${project}/${askId}`;
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!ask.prompt.body || read.has(key)) return undefined;
    let isHere = true;
    get(projectPath(project, "asks", askId, "prose"))
      .then(({ body }) => {
        read.set(key, body);
        if (read.size > KEPT) read.delete(read.keys().next().value);
        if (isHere) redraw((times) => times + 1);
      })
      .catch(() => {}); // the words themselves are shown until it can be asked again
    return () => (isHere = false);
  }, [key]);
  return read.get(key);
}
