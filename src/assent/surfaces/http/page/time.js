// Moments and spans in words, in the reader's own time zone.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// A span with its two largest units: enough to decide by, short enough for a row.
export function span(ms) {
  const units = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
  let left = Math.max(0, Math.round(ms / SECOND)) * SECOND;
  const words = [];
  for (const [size, name] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count || (name === "s" && !words.length)) words.push(`${count} ${name}`);
    else if (words.length) break;
    if (words.length === 2) break;
  }
  return words.join(" ");
}

// How long ago, with one unit: for lists.
export function age(iso, now) {
  const ms = Math.max(0, now - Date.parse(iso));
  if (ms < MINUTE) return ms < 10 * SECOND ? "now" : `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

export function left(iso, now) {
  const ms = Date.parse(iso) - now;
  if (ms <= 0) return "time is up";
  return ms < HOUR ? `${span(ms < MINUTE ? ms : Math.ceil(ms / MINUTE) * MINUTE)} left` : `${span(ms)} left`;
}

export const clock = (iso) => new Date(iso).toLocaleTimeString("en-GB");

export const day = (iso) =>
  new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });

// A moment of today by its time alone, another one with its day.
export function moment(iso, now = Date.now()) {
  const isToday = new Date(iso).toDateString() === new Date(now).toDateString();
  return isToday ? clock(iso) : `${day(iso)}, ${clock(iso)}`;
}
