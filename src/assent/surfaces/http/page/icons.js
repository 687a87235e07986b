// Every sign of the page, drawn by hand on a 16 grid and kept in one sprite. Kinds (k-) and states (s-) each have their
// own silhouette, so that colour is never needed to tell them apart.

import { html } from "/page/html.js";

export function Icon({ name, title, class: extra = "" }) {
  return title
    ? html`<svg class="icon ${extra}" role="img" aria-label=${title}><use href="#${name}" /></svg>`
    : html`<svg class="icon ${extra}" aria-hidden="true"><use href="#${name}" /></svg>`;
}

export const Mark = () => html`<svg class="mark" aria-hidden="true"><use href="#mark" /></svg>`;

export const Sprite = () => html`
  <svg width="0" height="0" aria-hidden="true" focusable="false" class="sr">
    <defs>
      <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="hatchback" width="5" height="5" />
        <line class="hatchline" x1="1" y1="0" x2="1" y2="5" />
      </pattern>
      <symbol id="k-question" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.6-.8 1.1M8 11.4v.1"/></symbol>
      <symbol id="k-round" viewBox="0 0 16 16"><path d="M2 3.5h2M6.5 3.5H14M2 8h2M6.5 8H14M2 12.5h2M6.5 12.5H11"/></symbol>
      <symbol id="k-gate" viewBox="0 0 16 16"><path d="M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.5-3.5V5.3zM5.5 8h5"/></symbol>
      <symbol id="k-confirm" viewBox="0 0 16 16"><rect x="2" y="2" width="12" height="12" rx="2.5"/><path d="m5.2 8.2 2 2 3.6-4.2"/></symbol>
      <symbol id="k-approval" viewBox="0 0 16 16"><path d="M8 1.6 13.4 3.5v4.2c0 3.2-2.2 5.6-5.4 6.7-3.2-1.1-5.4-3.5-5.4-6.7V3.5zM8 5v3.2M8 10.7v.1"/></symbol>
      <symbol id="k-finding" viewBox="0 0 16 16"><circle cx="7" cy="7" r="4.8"/><path d="m10.6 10.6 3.6 3.6M7 4.9v2.5M7 9.2v.1"/></symbol>
      <symbol id="k-open" viewBox="0 0 16 16"><rect x="1.8" y="5" width="5" height="6" rx="1.2"/><path d="M6.8 8h2.4"/><path d="M10.2 5.5h2.6a1.4 1.4 0 0 1 1.4 1.4v2.2a1.4 1.4 0 0 1-1.4 1.4h-2.6" stroke-dasharray="1.6 1.7"/></symbol>
      <symbol id="i-inbox" viewBox="0 0 16 16"><path d="M2 9.2 4 3h8l2 6.2V13H2zM2 9.2h3.4L6.4 11h3.2l1-1.8H14"/></symbol>
      <symbol id="i-runs" viewBox="0 0 16 16"><path d="M13.4 6.6A5.6 5.6 0 1 0 13.2 10M13.6 3v3.7H10"/></symbol>
      <symbol id="i-history" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="M8 4.4V8l2.4 1.8"/></symbol>
      <symbol id="i-numbers" viewBox="0 0 16 16"><path d="M2.5 13.5v-4M6.2 13.5V6M9.8 13.5V8M13.5 13.5v-11"/></symbol>
      <symbol id="i-settings" viewBox="0 0 16 16"><path d="M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6"/><circle cx="10" cy="4.5" r="1.8"/><circle cx="6" cy="11.5" r="1.8"/></symbol>
      <symbol id="i-search" viewBox="0 0 16 16"><circle cx="7" cy="7" r="4.6"/><path d="m10.4 10.4 3.4 3.4"/></symbol>
      <symbol id="i-clock" viewBox="0 0 16 16"><circle cx="8" cy="8.6" r="5.4"/><path d="M8 5.8v2.8l1.8 1.2M6.4 1.4h3.2"/></symbol>
      <symbol id="i-eye" viewBox="0 0 16 16"><path d="M1.6 8S4 3.6 8 3.6 14.4 8 14.4 8 12 12.4 8 12.4 1.6 8 1.6 8z"/><circle cx="8" cy="8" r="1.9"/></symbol>
      <symbol id="i-pen" viewBox="0 0 16 16"><path d="m10.6 2.8 2.6 2.6-7.4 7.4-3.2.6.6-3.2z"/></symbol>
      <symbol id="i-bot" viewBox="0 0 16 16"><rect x="2.6" y="5" width="10.8" height="8" rx="2"/><path d="M8 5V2.4M5.8 8.4v.6M10.2 8.4v.6M6.2 11h3.6"/></symbol>
      <symbol id="i-tick" viewBox="0 0 16 16"><path d="m3 8.6 3.2 3.2L13 4.6"/></symbol>
      <symbol id="i-no" viewBox="0 0 16 16"><path d="m4 4 8 8M12 4l-8 8"/></symbol>
      <symbol id="i-alert" viewBox="0 0 16 16"><path d="M8 2 14.4 13.4H1.6zM8 6.4v3.2M8 11.6v.1"/></symbol>
      <symbol id="i-cut" viewBox="0 0 16 16"><path d="M2 2l12 12M4.2 9.2a5 5 0 0 1 2.2-1.4M2 6.6a9 9 0 0 1 2.6-1.7M9.6 5a9 9 0 0 1 4.4 1.6M8 12.4v.1"/></symbol>
      <symbol id="i-arrow" viewBox="0 0 16 16"><path d="M3 8h10M9.4 4.4 13 8l-3.6 3.6"/></symbol>
      <symbol id="i-back" viewBox="0 0 16 16"><path d="M9.6 3.4 5 8l4.6 4.6"/></symbol>
      <symbol id="i-split" viewBox="0 0 16 16"><path d="M8 14V9M8 9 3.4 4.4M8 9l4.6-4.6M3.4 7.2V4.4h2.8M12.6 7.2V4.4H9.8"/></symbol>
      <symbol id="i-undo" viewBox="0 0 16 16"><path d="M5.4 3 2.4 6l3 3M2.6 6h7a3.9 3.9 0 0 1 0 7.8H6"/></symbol>
      <symbol id="i-copy" viewBox="0 0 16 16"><rect x="5.4" y="5.4" width="8" height="8" rx="1.6"/><path d="M10.6 5.2V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.6h1.2"/></symbol>
      <symbol id="s-running" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="M6.6 5.4 10.6 8l-4 2.6z" fill="currentColor"/></symbol>
      <symbol id="s-pausing" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2" stroke-dasharray="2.6 2.2"/><path d="M6.4 5.8v4.4M9.6 5.8v4.4"/></symbol>
      <symbol id="s-paused" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="M6.4 5.8v4.4M9.6 5.8v4.4"/></symbol>
      <symbol id="s-done" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="m5.4 8.2 1.9 1.9 3.4-3.9"/></symbol>
      <symbol id="s-abort" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="m5.8 5.8 4.4 4.4M10.2 5.8l-4.4 4.4"/></symbol>
      <symbol id="s-stale" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2" stroke-dasharray="1 2.4"/><path d="M8 4.8V8.4M8 10.8v.1"/></symbol>
      <symbol id="mark" viewBox="0 0 24 24"><path class="mark-old" d="M14 4.5H7.5a3 3 0 0 0-3 3v5a3 3 0 0 0 3 3H12"/><path class="mark-new" d="M10 19.5h6.5a3 3 0 0 0 3-3v-5a3 3 0 0 0-3-3H12"/></symbol>
      <symbol id="i-help" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2"/><path d="M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.6-.8 1.1M8 11.4v.1"/></symbol>
      <symbol id="i-out" viewBox="0 0 16 16"><path d="M6.4 2.6H3.6v10.8h2.8M7 8h7M11 5l3 3-3 3"/></symbol>
      <symbol id="i-down" viewBox="0 0 16 16"><path d="m3.6 6 4.4 4.4L12.4 6"/></symbol>
      <symbol id="i-up" viewBox="0 0 16 16"><path d="m3.6 10 4.4-4.4L12.4 10"/></symbol>
    </defs>
  </svg>
`;
