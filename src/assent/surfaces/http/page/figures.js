// What the figures say: scales and ticks of the plots, and for each plot a sentence that is true of it. Pure.

import { span } from "/page/time.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_TICKS = [1, 10, MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY];
const TIME_NAMES = ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 day", "1 week", "30 days"];
const FEWEST_HOURS = 8; // a plot of two bars says nothing about a day

export const NAMES = {
  question: ["Question", "questions"],
  gate: ["Gate", "gates"],
  confirm: ["Confirm", "confirms"],
  approval: ["Approval", "approvals"],
  finding: ["Finding", "findings"],
  open_question: ["Open question", "open questions"],
};

export const kindName = (kind) => NAMES[kind]?.[0] ?? kind;
const kindNames = (kind) => NAMES[kind]?.[1] ?? kind;
export const count = (number, one, many = `${one}s`) =>
  `${number.toLocaleString("en-GB")} ${number === 1 ? one : many}`;
export const seconds = (value) => (value === null ? "–" : value < 1 ? "under 1 s" : span(value * 1_000));

// Ticks from 0 at round steps, about as many as there is room for; the last one is at or above the most.
export function countTicks(most, room = 4) {
  const rough = Math.max(1, most) / room;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(
    1,
    [1, 2, 4, 5, 10].map((factor) => factor * power).find((size) => size >= rough),
  );
  return Array.from({ length: Math.ceil(Math.max(1, most) / step) + 1 }, (_, at) => at * step);
}

// A scale on which ten seconds are as far from a minute as ten minutes from an hour.
export function timeScale(least, most) {
  const low = Math.max(
    0,
    TIME_TICKS.findLastIndex((tick) => tick <= least),
  );
  const found = TIME_TICKS.findIndex((tick) => tick >= most);
  const high = Math.max(low + 1, found < 0 ? TIME_TICKS.length - 1 : found);
  const [from, to] = [TIME_TICKS[low], Math.max(TIME_TICKS[high], most)].map(Math.log);
  const at = (value) => (Math.log(Math.max(TIME_TICKS[low], value)) - from) / (to - from);
  const ticks = TIME_TICKS.slice(low, high + 1).map((value, index) => ({
    at: at(value),
    name: TIME_NAMES[low + index],
  }));
  return { at, ticks };
}

export const sumOf = (bin) => bin.answered + bin.unanswered + bin.open;

// The hours of a day from the first one in which something was asked on.
export function trimBins(bins, days) {
  if (days !== 1) return bins;
  const first = bins.findIndex((bin) => sumOf(bin) > 0);
  return bins.slice(Math.max(0, Math.min(first < 0 ? bins.length : first, bins.length - FEWEST_HOURS)));
}

// By the clock that the server counted with, whatever summer time did to this one since.
const local = (iso, offset) => new Date(Date.parse(iso) + offset * 60_000);

export function binName({ start_at }, { days, offset }, isLong = false) {
  const start = local(start_at, offset);
  if (days === 1) {
    const hour = start.getUTCHours();
    return isLong ? `${hour}:00 to ${hour + 1}:00` : String(hour);
  }
  const words = isLong
    ? { weekday: "short", day: "numeric", month: "short" }
    : { day: "numeric", month: "short" };
  return start.toLocaleDateString("en-GB", { ...words, timeZone: "UTC" });
}

const share = (part, whole) => {
  const percent = Math.round((100 * part) / whole);
  return percent === 0 ? "less than 1 %" : percent === 100 && part < whole ? "nearly all" : `${percent} %`;
};

export const windowName = (days) => (days === 1 ? "today" : `in the last ${days} days`);

export function sayBins(numbers) {
  const { bins, days } = numbers;
  const most = Math.max(0, ...bins.map(sumOf));
  if (!most) return `Nothing was asked ${windowName(days)}.`;
  const unit = days === 1 ? "hour" : "day";
  const busiest = bins.filter((bin) => sumOf(bin) === most);
  if (busiest.length > 1) return `No ${unit} had more than ${count(most, "ask")}.`;
  const [{ open }] = busiest;
  const rest = open
    ? open === most
      ? "; all of them still wait"
      : `; ${open} of them still ${open === 1 ? "waits" : "wait"}`
    : "";
  const name = binName(busiest[0], numbers, true);
  return `The busiest ${unit} was ${name}, with ${count(most, "ask")}${rest}.`;
}

export function sayPaces({ paces, answer_time: all }) {
  if (!paces.length) return "Nobody has answered anything yet.";
  const [first, last] = [paces[0], paces.at(-1)];
  if (paces.length === 1 || first.median_seconds === last.median_seconds) {
    const what =
      paces.length === 1 ? `Half of the ${kindNames(first.kind)}` : "Half of what was asked, of every kind,";
    return `${what} ${paces.length === 1 ? "were" : "was"} answered within ${seconds(all.median_seconds)}.`;
  }
  const [fast, slow] = [kindNames(first.kind), kindNames(last.kind)];
  const half = `half within ${seconds(first.median_seconds)}`;
  const other = seconds(last.median_seconds);
  return `People are fastest with ${fast} (${half}) and slowest with ${slow} (${other}).`;
}

// Under the median: how slow the slow ones were, and how it was before.
export function notePace({ answer_time: pace, earlier_time: earlier, days }) {
  const before = days === 1 ? "yesterday" : `the ${days} days before`;
  const words = [pace.count ? `nine in ten within ${seconds(pace.slow_seconds)}` : "no answer yet"];
  if (earlier.count) words.push(`${before} ${seconds(earlier.median_seconds)}`);
  return words.join("; ");
}

// `name` makes an asker's name safe to read.
export function sayWaits({ waits, waited_seconds: all, days }, name = String) {
  if (!waits.length) return `No agent waited ${windowName(days)}.`;
  const [first] = waits;
  if (!all) return "No agent waited as long as a second.";
  const part = waits.length > 1 ? `, ${share(first.seconds, all)} of all waiting` : "";
  const over = `${seconds(first.seconds)} over ${count(first.asks, "ask")}`;
  return `${name(first.asker)} waited longest: ${over}${part}.`;
}

export function sumEnds(ends) {
  const sum = (part) => ends.reduce((total, each) => total + each[part], 0);
  return {
    answered: sum("answered"),
    declined: sum("declined"),
    unanswered: sum("unanswered"),
    open: sum("open"),
  };
}

export function sayEnds({ ends, days }) {
  const { answered, declined, unanswered } = sumEnds(ends);
  const all = answered + declined + unanswered;
  if (!all) return `Nothing that was asked ${windowName(days)} has ended yet.`;
  const others = [];
  if (declined) others.push(`${declined} declined`);
  if (unanswered) others.push(`${unanswered} ended without an answer`);
  const head =
    answered === all
      ? all === 1
        ? "The one that ended was answered"
        : `All ${all} that ended were answered`
      : `Of ${all} that ended, ${answered} ${answered === 1 ? "was" : "were"} answered`;
  return others.length ? `${head}, ${others.join(" and ")}.` : `${head}.`;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

// As much of a text as fits a width; wide signs take twice the room.
export function fit(text, width, signWidth) {
  const room = Math.floor(width / signWidth);
  let used = 0;
  const signs = [...text];
  for (const [at, sign] of signs.entries()) {
    used += WIDE.test(sign) ? 2 : 1;
    if (used > room) return `${signs.slice(0, Math.max(1, at - 1)).join("")}…`;
  }
  return text;
}
