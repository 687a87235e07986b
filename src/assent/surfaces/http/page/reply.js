// A reply in the making: what is marked and written of one ask, whether it can be sent, and what would be sent, in words.
// Pure: nothing here knows of a page.
//
// A reply is { fields: { NAME: { keys, text, isOwn } }, command, reason }. `isOwn` says that words of one's own are marked
// where there are options, too; `command` is what was typed at a gate, `reason` why an approval is rejected.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
export const OTHER = "Something else";

const NOTHING = { keys: [], text: "", isOwn: false };

const REJECT = "Reject";

export const emptyReply = () => ({ fields: {}, command: "", reason: "" });
// An asker may call a field `constructor`, so what every object has does not count.
export const fieldReply = (reply, name) => (Object.hasOwn(reply.fields, name) ? reply.fields[name] : NOTHING);

export const isFreeOnly = (field) => field.free && field.options.length === 0;
// A confirm takes words: yes and no have keys of their own, anything else is a wish for changes.
export const isYesNo = (ask) =>
  ask.kind === "confirm" && ask.prompt.fields.length === 1 && isFreeOnly(ask.prompt.fields[0]);
export const isGate = (ask) => ask.prompt.commands.length > 0;

// A confirm's three ways, as options of the page: the words that are sent for them are the protocol's.
export const CONFIRM_WAYS = [
  { key: "yes", letter: "Y", label: "Yes, continue", note: "The work goes on from here." },
  { key: "changes", letter: "C", label: "Changes first", note: "The agent applies what you write, and asks again." },
  { key: "no", letter: "N", label: "No, stop here", note: "The agent halts, and waits for new instructions." },
];

// What stands on the keycap of an option: the letter or number by which the terminal knows it, too.
export function keycap(ask, field, at) {
  const mark = field.options[at]?.mark;
  if (mark) return mark;
  if (isGate(ask)) return String(at + 1);
  return at < LETTERS.length ? LETTERS[at] : String(at + 1);
}

function withField(reply, name, changes) {
  return { ...reply, fields: { ...reply.fields, [name]: { ...fieldReply(reply, name), ...changes } } };
}

export function toggle(reply, field, key) {
  const { keys } = fieldReply(reply, field.name);
  if (!field.multiple) return { ...withField(reply, field.name, { keys: [key], isOwn: false }), command: "" };
  const next = keys.includes(key) ? keys.filter((each) => each !== key) : [...keys, key];
  return withField(reply, field.name, { keys: next });
}

export function markOwn(reply, field, isOwn = true) {
  return withField(reply, field.name, field.multiple ? { isOwn } : { isOwn, keys: [] });
}

export const write = (reply, field, text) =>
  withField(reply, field.name, isFreeOnly(field) ? { text } : { text, isOwn: true, ...(field.multiple ? {} : { keys: [] }) });

// Without its marks; what was written stays, as no key takes that back.
export function unmark(reply) {
  const fields = Object.entries(reply.fields).map(([name, part]) => [name, { ...part, keys: [], isOwn: false }]);
  return { ...reply, fields: Object.fromEntries(fields), command: "" };
}

// What of a reply may wait for its person: words, and marks but where one Enter would make an answer of them that nobody gives
// now: of approvals and confirms, and of every ask with something that cannot be undone.
export function keepable(ask, reply) {
  const isGrave =
    ask.kind === "approval" ||
    ask.kind === "confirm" ||
    ask.prompt.fields.some((field) => field.options.some((option) => option.destructive));
  const fields = ask.prompt.fields
    .filter((field) => Object.hasOwn(reply.fields, field.name))
    .map((field) => {
      const part = reply.fields[field.name];
      return [field.name, isGrave ? { ...part, keys: [], isOwn: false } : part];
    });
  return { ...emptyReply(), ...reply, fields: Object.fromEntries(fields) };
}

// A no to an approval may say why. A reason that was kept waits for its mark; a yes has none.
const keyOf = (ask, reply) => fieldReply(reply, ask.prompt.fields[0].name).keys[0];
const canReject = (ask) =>
  ask.kind === "approval" && ask.prompt.fields.length === 1 && ask.prompt.fields[0].options.some(({ key }) => key === REJECT);
export const isRejected = (ask, reply) => canReject(ask) && keyOf(ask, reply) === REJECT;
export const takesReason = (ask, reply) =>
  isRejected(ask, reply) || (canReject(ask) && !keyOf(ask, reply) && Boolean(reply.reason));
export const giveReason = (ask, reply, reason) => ({ ...toggle(reply, ask.prompt.fields[0], REJECT), reason });

export const typeCommand = (reply, command) =>
  command ? { ...emptyReply(), command } : { ...reply, command };

// Whether a field has what it needs.
function isAnswered(field, { keys, text, isOwn }) {
  const hasText = text.trim() !== "";
  if (isFreeOnly(field)) return hasText;
  if (isOwn) return hasText && !isKeyOf(field, text) && (keys.length === 0 || field.multiple);
  return keys.length > 0;
}

export function isBlank(reply) {
  return !reply.command && !reply.reason?.trim() && Object.values(reply.fields).every(({ keys, text }) => !keys.length && !text.trim());
}

// What is written is sent as it is, and the key of an option is that option, whatever its label says. Where the label says
// the same, that is what is meant.
const isKeyOf = (field, text) =>
  field.options.some(({ key, label }) => key === text.trim() && key.toLowerCase() !== label.trim().toLowerCase());

// Why it cannot be sent yet, as the button says it; empty when it can.
export function lacking(ask, reply) {
  if (isYesNo(ask)) {
    const field = ask.prompt.fields[0];
    const { keys, text } = fieldReply(reply, field.name);
    if (!keys.length) return "Mark one first";
    return keys[0] === "changes" && !text.trim() ? "Say what to change" : "";
  }
  if (reply.command.trim()) return "";
  const { fields } = ask.prompt;
  const at = fields.findIndex((field) => !isAnswered(field, fieldReply(reply, field.name)));
  if (at < 0) return "";
  if (fields.length > 1) return `Answer Q${at + 1} first`;
  if (isFreeOnly(fields[0])) return "Write an answer first";
  const { isOwn, text } = fieldReply(reply, fields[0].name);
  if (isOwn && isKeyOf(fields[0], text)) return "Mark that option instead";
  return isOwn ? "Write your own words" : "Mark one first";
}

const labelOf = (field, key) => field.options.find((option) => option.key === key)?.label ?? key;

function words(field, { keys, text, isOwn }) {
  const labels = keys.map((key) => labelOf(field, key));
  if (isFreeOnly(field) || isOwn) labels.push(text.trim());
  return labels.filter(Boolean).join(", ");
}

// What would be sent, in words.
export function summary(ask, reply) {
  if (reply.command.trim()) return reply.command.trim();
  const { fields } = ask.prompt;
  if (isYesNo(ask)) {
    const { keys, text } = fieldReply(reply, fields[0].name);
    const way = CONFIRM_WAYS.find(({ key }) => key === keys[0]);
    if (!way) return "Nothing marked";
    return way.key === "changes" && text.trim() ? `Changes first: ${text.trim()}` : way.label;
  }
  if (fields.length > 1) {
    const count = fields.filter((field) => isAnswered(field, fieldReply(reply, field.name))).length;
    return `${count} of ${fields.length} answered`;
  }
  const said = words(fields[0], fieldReply(reply, fields[0].name));
  return said || (isFreeOnly(fields[0]) ? "Nothing written" : "Nothing marked");
}

// The same for somebody who comes too late: all of it, one line a field.
export function keptLines(ask, reply) {
  if (reply.command.trim()) return [reply.command.trim()];
  if (isYesNo(ask)) {
    const { keys, text } = fieldReply(reply, ask.prompt.fields[0].name);
    return keys.length ? [summary(ask, reply)] : [text.trim()].filter(Boolean);
  }
  const lines = ask.prompt.fields.map((field, at) => {
    const said = words(field, fieldReply(reply, field.name));
    return said && (ask.prompt.fields.length > 1 ? `Q${at + 1}: ${said}` : said);
  });
  return [...lines, reply.reason?.trim()].filter(Boolean);
}

// The body of the request.
export function bodyOf(ask, reply) {
  if (reply.command.trim()) return { text: reply.command.trim() };
  const valuesOf = (field) => {
    const { keys, text, isOwn } = fieldReply(reply, field.name);
    if (isYesNo(ask)) return [keys[0] === "changes" ? `changes: ${text.trim()}` : keys[0]];
    if (isFreeOnly(field)) return [text.trim()];
    return isOwn ? [...keys, text.trim()] : keys;
  };
  // As entries: a field that is called `__proto__` is a field, and not what all objects come from.
  const values = Object.fromEntries(ask.prompt.fields.map((field) => [field.name, valuesOf(field)]));
  const reason = isRejected(ask, reply) ? reply.reason?.trim() : "";
  return reason ? { values, reason } : { values };
}

// The options that are marked and cannot be undone.
export function destructiveMarks(ask, reply) {
  return ask.prompt.fields.flatMap((field) =>
    field.options.filter((option) => option.destructive && fieldReply(reply, field.name).keys.includes(option.key)),
  );
}

// What the button says once it can be pressed: it names the stakes.
export function sendLabel(ask, reply) {
  const destructive = destructiveMarks(ask, reply);
  if (destructive.length) return `${destructive[0].label}, cannot be undone`;
  if (ask.kind === "approval") {
    const [key] = fieldReply(reply, ask.prompt.fields[0].name).keys;
    if (key === "Approve") return ask.prompt.risk ? `Approve: ${ask.prompt.risk}` : "Approve, once";
    return "Send the no";
  }
  if (isYesNo(ask)) return { yes: "Continue", no: "Send the no" }[fieldReply(reply, ask.prompt.fields[0].name).keys[0]] ?? "Send the changes";
  return ask.prompt.fields.length > 1 && !isGate(ask) ? `Send all ${ask.prompt.fields.length}` : "Send";
}
