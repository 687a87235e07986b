// JSON in which every number is read and written as it stands there. A script's own numbers would make another one of
// 9007199254740993, and a person must see what an agent wrote.

// A number that a script would spell otherwise. It counts as a number wherever one counts with it.
export class Digits {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }

  valueOf() {
    return Number(this.text);
  }
}

const SPACE = /\s*/y;
const NUMBER = /-?\d[\d.eE+-]*/y;
const WORD = /true|false|null/y;
const WORDS = { true: true, false: false, null: null };

function numberOf(text) {
  const number = Number(text);
  if (Number.isNaN(number)) throw new SyntaxError(`${text} is no number.`);
  return String(number) === text ? number : new Digits(text);
}

class Reader {
  constructor(text) {
    Object.assign(this, { text, at: 0 });
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? this.refuse();
    this.at = pattern.lastIndex;
    return found;
  }

  refuse() {
    throw new SyntaxError(`This is no JSON at ${this.at}.`);
  }

  // Says whether this sign is the next one, and passes it.
  has(sign) {
    this.match(SPACE);
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  value() {
    if (this.has("[")) return this.list();
    if (this.has("{")) return this.object();
    const sign = this.text[this.at];
    if (sign === '"') return this.string();
    return sign === "-" || (sign >= "0" && sign <= "9") ? numberOf(this.match(NUMBER)) : WORDS[this.match(WORD)];
  }

  string() {
    if (!this.has('"')) this.refuse();
    const start = this.at;
    for (;;) {
      const end = this.text.indexOf('"', this.at);
      if (end < 0) this.refuse();
      let before = end;
      while (this.text[before - 1] === "\\") before -= 1;
      this.at = end + 1;
      if ((end - before) % 2) continue; // it is escaped
      const inner = this.text.slice(start, end);
      return inner.includes("\\") ? JSON.parse(`"${inner}"`) : inner;
    }
  }

  list() {
    const list = [];
    if (this.has("]")) return list;
    do list.push(this.value());
    while (this.has(","));
    return this.has("]") ? list : this.refuse();
  }

  object() {
    const object = {};
    if (this.has("}")) return object;
    do {
      const name = this.string();
      if (!this.has(":")) this.refuse();
      // Not by assignment: `__proto__` is a key like any other.
      const value = this.value();
      Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
    } while (this.has(","));
    return this.has("}") ? object : this.refuse();
  }
}

// What a number may look like that a script would spell otherwise: long, with an exponent, a sign or zeros at an end.
const ODD = /(?:^|[:,[\s])-?(?:[\d.]{16}|0\.00000|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?![\d.]))|(?:^|[:,[\s])-0/;

export function parse(text) {
  if (!ODD.test(text)) return JSON.parse(text); // many times faster
  const reader = new Reader(text);
  const value = reader.value();
  reader.match(SPACE);
  return reader.at === text.length ? value : reader.refuse();
}

export const isObject = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Digits);

// The names and values of an object in the one order that the digest is over, in whichever they came.
export const inOrder = (value) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

// Returns the text of a value: on one line, or with a `gap` by which each level is set in; in the order that `entries` gives.
export function spell(value, gap = "", margin = "", entries = Object.entries) {
  if (value instanceof Digits) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const inner = margin + gap;
  const colon = gap ? ": " : ":";
  const parts = Array.isArray(value)
    ? value.map((each) => spell(each, gap, inner, entries))
    : entries(value).map(([name, each]) => `${JSON.stringify(name)}${colon}${spell(each, gap, inner, entries)}`);
  if (!parts.length) return open + close;
  return gap
    ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`
    : `${open}${parts.join(",")}${close}`;
}

// A line end in a text is drawn as one, behind the sign for it, and what follows is set in as nothing else is.
export const breakLines = (text) =>
  text
    .split("\n")
    .map((line) => {
      const margin = `\n${/^ */.exec(line)[0]}      `;
      return line.replace(/\\./g, (sign) => (sign === "\\n" ? `${sign}${margin}` : sign));
    })
    .join("\n");
