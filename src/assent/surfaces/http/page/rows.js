// What waits, in the order in which it wants to be looked at, and what of it somebody asked to see. Pure.

import { firstLine } from "/page/text.js";

export const KINDS = {
  question: { icon: "k-question", name: "Question" },
  round: { icon: "k-round", name: "Questions" },
  gate: { icon: "k-gate", name: "Gate" },
  confirm: { icon: "k-confirm", name: "Confirm" },
  approval: { icon: "k-approval", name: "Approval" },
  finding: { icon: "k-finding", name: "Finding" },
  open_question: { icon: "k-open", name: "Open question" },
};

const WALK = /^review:.*:\d+$/;
const FINDING = /^Finding (\d+) of (\d+)\s*[—:-]\s*/;

// How an ask is called: several questions at once are a round; a question of a walk-through is part of it.
export function kindOf(ask) {
  const { kind, prompt } = ask;
  if (kind === "question" && prompt.fields.length > 1) return { ...KINDS.round, name: `${prompt.fields.length} questions` };
  const step = kind === "finding" && FINDING.exec(prompt.title);
  if (step) return { ...KINDS.finding, name: `Finding ${step[1]} of ${step[2]}` };
  if (isOfWalk(ask)) return { ...KINDS.finding, name: "Walk-through" };
  return KINDS[kind] ?? KINDS.question;
}

// A question of a durable review goes by the key of its flow and its step.
export const isOfWalk = (ask) => WALK.test(ask.key ?? "");
export const flowOf = (ask) => (isOfWalk(ask) ? ask.key.replace(/:\d+$/, "").replace(/:next$/, "") : null);

// A confirm of a plan is put in one fixed sentence, which says all at once; its parts make a title that can be read.
const CONFIRM = /^Confirm \(human\) (\w+) (\S+): ([^]*?)\. When=(before|after)\. Summary: ([^]*)\. Continue\? \(Y\/N\)$/;

export function confirmTitle({ kind, prompt }) {
  const found = kind === "confirm" && CONFIRM.exec(prompt.title);
  if (!found) return null;
  const [, owner, id, name, when] = found;
  return `${when === "before" ? "Before" : "After"} ${owner} ${id}: ${name}`;
}

// What a row says: of an open question the question, as its title only says who asks about what; of a finding what was
// found, as its place stands beside it.
export function titleOf(ask) {
  const [field] = ask.prompt.fields;
  if (ask.kind === "open_question" && field.text) return firstLine(field.text);
  if (stemOf(ask)) return ask.prompt.title.replace(FINDING, "").split("\n")[0];
  return confirmTitle(ask) ?? ask.prompt.title;
}

// The question of a finding, where its title has it on a line of its own and there are options to put it above: "" if not.
export function stemOf(ask) {
  const { title, fields } = ask.prompt;
  const hasRoom = fields.length === 1 && fields[0].options?.length > 0 && !fields[0].text;
  if (ask.kind !== "finding" || !hasRoom || !FINDING.test(title)) return "";
  return title.split("\n").slice(1).join("\n");
}

const isUrgent = (ask) => Boolean(ask.deadline) && ask.state === "open";
const newestFirst = (a, b) => (a.opened_at < b.opened_at ? 1 : a.opened_at > b.opened_at ? -1 : 0);

export function order(asks) {
  const open = asks.filter((ask) => ask.state === "open");
  return {
    urgent: open.filter(isUrgent).sort((a, b) => Date.parse(a.deadline) - Date.parse(b.deadline)),
    calm: open.filter((ask) => !isUrgent(ask)).sort(newestFirst),
    ended: asks.filter((ask) => ask.state !== "open").sort((a, b) => Date.parse(endOf(b).at) - Date.parse(endOf(a).at)),
  };
}

export const endOf = (ask) => ask.answer ?? ask.outcome ?? { at: ask.opened_at, by: "" };

// Words of a filter: `gate`, `kind:gate`, `project:edge run:42 asker:coder words`.
export function parseFilter(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const found = /^(kind|project|run|asker):(.+)$/.exec(word);
    return found ? { part: found[1], text: found[2] } : { part: "", text: word };
  });
}

function partsOf(ask) {
  const kind = `${ask.kind.replace("_", "-")} ${kindOf(ask).name.replace(" ", "-")}`;
  return { kind, project: ask.project, run: ask.run_id ?? "", asker: ask.asker, title: `${ask.prompt.title} ${titleOf(ask)}` };
}

export function matches(ask, wanted) {
  if (!wanted.length) return true;
  const parts = partsOf(ask);
  const all = Object.values(parts).join("\n").toLowerCase();
  return wanted.every(({ part, text }) => (part ? parts[part].toLowerCase().includes(text) : all.includes(text)));
}

// The filter with one word of a part put in, or taken out where it stood already.
export function toggleWord(text, word) {
  const words = text.split(/\s+/).filter(Boolean);
  const [part] = word.split(":");
  if (words.includes(word)) return words.filter((each) => each !== word).join(" ");
  return [...words.filter((each) => !each.startsWith(`${part}:`)), word].join(" ");
}

// Kinds that wait, with how many of each: the chips under the filter.
export function countKinds(asks) {
  const counts = new Map();
  for (const { kind, state } of asks) if (state === "open") counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...Object.keys(KINDS)].filter((kind) => counts.has(kind)).map((kind) => [kind, counts.get(kind)]);
}

// What a deadline does, in the words of a row.
export const THEN = { deny: "then no", "end-run": "then the run ends", escalate: "then others are asked", wait: "then it waits on" };
