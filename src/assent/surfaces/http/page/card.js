// One ask: a frame that is the same for all kinds. Kind and origin, title, what is at stake, the matter, the agent's words,
// the choices, and one bar that says what would be sent.
//
// Rule 1: a letter or number marks, Enter sends. Nothing is marked at the start.
// Rule 2: for a beat after an ask was drawn neither keys nor the button count; keys.js decides it.
// Rule 3: what is written is kept on this device until the answer is accepted, and marks where reply.js says so.
// Rule 4: what became of an answer is what the server says: it was the one, or somebody else's was, or it is too late.
// Rule 5: a field that is typed in stays, whatever becomes of its ask; only sending is gone.
// Rule 6: what cannot be undone is asked once more, and sent on a yes alone.

import { html, useEffect, useLayoutEffect, useRef, useState } from "/page/html.js";
import { get, newKey, projectPath, request } from "/page/api.js";
import { Bar } from "/page/bar.js";
import { MATTERS } from "/page/matter.js";
import { dropDraft, keepDraft, readDraft } from "/page/draft.js";
import { Facts } from "/page/facts.js";
import { Fate, Outcome } from "/page/fate.js";
import { Head } from "/page/head.js";
import { useBeat, useKeys, whenLeft } from "/page/keys.js";
import { look } from "/page/presence.js";
import { bodyOf, destructiveMarks, emptyReply, isBlank, keepable, keptLines, lacking, unmark } from "/page/reply.js";
import { setFate, takeAsks, useStore } from "/page/store.js";
import { Sure } from "/page/sure.js";

const ANSWERED_IN = ".choice input, .ask-main textarea, .ask-main input";
const OURS = new Set(["j", "k", "g", "o", "/", "?"]); // the page's own keys never mark

// An ask that this page does not know, as one from the history, is asked for.
function useAsk(project, askId) {
  const known = useStore((state) => state.asks.get(askId));
  const [found, setFound] = useState(undefined);
  const isOnline = useStore((state) => state.link.isOnline);
  useEffect(() => {
    if (!isOnline || (known && known.digest)) return;
    get(projectPath(project, "asks", askId))
      .then((ask) => (known || ask.state === "open" ? takeAsks([ask]) : setFound(ask)))
      .catch((error) => setFound(error));
  }, [project, askId, Boolean(known), isOnline]);
  return known ?? found;
}

export function Card({ project, askId, next }) {
  const ask = useAsk(project, askId);
  useEffect(() => look(project, askId), [project, askId]);
  useLayoutEffect(() => {
    const detail = document.getElementById("detail");
    if (detail) detail.scrollTop = 0;
  }, [askId]);
  if (ask === undefined) return html`<section class="blank" aria-busy="true"><h2>One moment</h2></section>`;
  if (ask instanceof Error) {
    return html`<section class="blank">
      <h2>${ask.isOffline ? "The server does not answer" : "There is no such ask"}</h2>
      <p>${ask.isOffline ? "It is shown as soon as we are back." : "It may be of a project that you cannot see."}</p>
    </section>`;
  }
  return html`<${Answerable} ask=${ask} next=${next} />`;
}

function useReply(ask, by) {
  const [draft] = useState(() => keepable(ask, readDraft(ask.ask_id, by)?.reply ?? emptyReply()));
  const [reply, keepReply] = useState(draft);
  const [isKept, setKept] = useState(!isBlank(draft));
  const setReply = (next) => {
    keepReply(next);
    const kept = keepable(ask, next);
    if (!isBlank(kept)) setKept(keepDraft(ask.ask_id, by, kept));
    else {
      dropDraft(ask.ask_id, by);
      setKept(false);
    }
  };
  return { reply, setReply, isKept };
}

const topOf = (element) => element.getBoundingClientRect().top;

// Whether an ask that has ended is folded: once nobody types in it any more. What is typed in stays where it is.
function useFolded(form, isEnded) {
  const [isFolded, setFolded] = useState(isEnded);
  const before = useRef(null); // where the field stood when the ask ended
  const field = document.activeElement;
  if (isEnded && !isFolded) before.current ??= topOf(field);
  useLayoutEffect(() => {
    if (!isEnded || isFolded) return undefined;
    const detail = document.getElementById("detail");
    if (detail && form.current?.contains(field)) {
      detail.scrollTop += topOf(field) - before.current;
      const outcome = form.current.querySelector(".fate").getBoundingClientRect();
      detail.scrollTop -= Math.max(0, outcome.bottom - topOf(field)); // it is above the field, and never over it
    }
    return whenLeft(form.current, () => setFolded(true));
  }, [isEnded, isFolded]);
  return isEnded && isFolded;
}

const namesOf = (options) => options.map((option) => `“${option.label}”`).join(" and ");

function Answerable({ ask, next }) {
  const who = useStore((state) => state.who);
  const { reply, setReply, isKept } = useReply(ask, who?.name);
  const fate = useStore((state) => state.fates.get(ask.ask_id));
  const isOnline = useStore((state) => state.link.isOnline);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const [declining, setDeclining] = useState(null); // the reason in the making, or null
  const [doubt, setDoubt] = useState(null); // what is asked once more before it is sent: { body, question }, or null
  // The ask was drawn now, and what Enter sends is another thing once declining has begun, so the beat begins anew.
  const beat = useBeat(doubt ? "doubt" : declining !== null ? "decline" : "answer");
  const attempt = useRef({ key: "", text: "", isUnknown: false });
  const form = useRef();
  // While it is being sent, its own event may come first: whose answer it was is known when the reply is here.
  const isEnded = ask.state !== "open" && !sending;
  const isFolded = useFolded(form, isEnded);

  const mayAnswer = who?.role === "human";
  const lack = !mayAnswer ? `${who?.role ?? "strangers"}s cannot answer` : declining !== null ? "" : lacking(ask, reply);

  // Sends the attempt, and once more under the same key if its reply was lost: it is done once.
  const deliver = async () => {
    const { key, text } = attempt.current;
    const post = () =>
      request("POST", projectPath(ask.project, "asks", ask.ask_id, "answer"), { body: JSON.parse(text), key });
    setSending(true);
    setProblem("");
    try {
      const ended = await post().catch((error) => (error.isOffline ? post() : Promise.reject(error)));
      attempt.current.isUnknown = false;
      dropDraft(ask.ask_id, who?.name);
      setFate(ask.ask_id, { isMine: true });
      takeAsks([ended]);
    } catch (error) {
      const ended = error.details?.ask;
      attempt.current.isUnknown = Boolean(error.isOffline);
      if (ended && ended.state !== "open") {
        setFate(ask.ask_id, { isMine: false, wasSent: true });
        takeAsks([ended]);
      } else if (error.isOffline) setProblem("The server did not answer, so it is not known whether your answer arrived. Sending it again is safe.");
      else if (error.code === "confirm_first") setDoubt({ body: JSON.parse(text), question: error.message });
      else setProblem(error.message);
    } finally {
      setSending(false);
    }
  };

  const sendBody = async (body) => {
    const text = JSON.stringify(body);
    // The same answer sent again, after a reply that was lost, goes by the same key.
    if (attempt.current.text !== text) attempt.current = { key: newKey(), text, isUnknown: false };
    await deliver();
  };

  const send = async () => {
    if (!beat.isOver || lack || !isOnline || sending || doubt || ask.state !== "open") return;
    const body = declining !== null ? { decline: true, reason: declining.trim() } : bodyOf(ask, reply);
    const destructive = declining === null ? destructiveMarks(ask, reply) : [];
    if (!destructive.length) await sendBody(body);
    else setDoubt({ body, question: `${namesOf(destructive)} cannot be undone. Send it?` });
  };

  // Of an answer whose reply was lost the server is asked, by its key, as soon as the ask has ended: whose was it?
  useLayoutEffect(() => {
    if (ask.state !== "open" && isOnline && !sending && attempt.current.isUnknown) void deliver();
  }, [ask.state, isOnline]);

  const isTaking = ask.state === "open" && !doubt;
  useKeys(
    isTaking && {
      ArrowDown: ({ target }) => focusFirst(form.current, target),
      "Shift+I": () => void navigator.clipboard?.writeText(ask.ask_id).catch(() => {}), // a browser may forbid it
      Escape: () => (declining === null ? false : setDeclining(null)),
    },
  );
  useKeys(
    isTaking && {
      Enter: () => void send(),
      "Ctrl+Enter": () => void send(),
      Backspace: () => {
        setReply(unmark(reply));
        setDeclining(null);
      },
      "Shift+D": () => setDeclining(""),
      "Shift+C": () => void claim(ask),
      any: (event, name) => (OURS.has(name) ? false : markByKey(form.current, event.target, name)),
    },
    beat,
  );

  const frame = (drawn) => html`<div class="askframe ${beat.isOver ? "is-armed" : "is-arming"}">${drawn}</div>`;
  if (isFolded) {
    const kept = fate?.isMine ? [] : [...keptLines(ask, reply), ...(declining?.trim() ? [declining.trim()] : [])];
    return frame(html`<${Fate} ask=${ask} fate=${fate} who=${who} kept=${kept} next=${next} />`);
  }
  // Whoever marks something else is not asked about what they marked before, and does not decline any more.
  const mark = (made) => {
    setDoubt(null);
    setDeclining(null);
    setReply(made);
  };
  const Matter = MATTERS[ask.kind] ?? MATTERS.question;
  return frame(html`<form
    class=${isEnded ? "ask is-held" : "ask"}
    ref=${form}
    aria-labelledby="t-ask"
    onBeforeInput=${(event) => fate?.isMine && event.preventDefault() /* it was sent with the words that stand there */}
    onSubmit=${(event) => {
      event.preventDefault();
      void send();
    }}
  >
    <div class="ask-main">
      <${Head} ask=${ask} />
      ${isEnded && html`<${Outcome} ask=${ask} fate=${fate} who=${who} />`}
      <${Matter} ask=${ask} reply=${reply} setReply=${mark} problem=${problem} />
      ${problem && !isEnded && html`<div class="echo" role="alert">${problem}</div>`}
    </div>
    <${Bar}
      ask=${ask}
      reply=${reply}
      setReply=${mark}
      lack=${lack}
      isArmed=${beat.isOver}
      isOnline=${isOnline}
      isKept=${isKept}
      isEnded=${isEnded}
      sending=${sending}
      declining=${declining}
      setDeclining=${setDeclining}
      next=${next}
    >
      ${doubt &&
      !isEnded &&
      html`<${Sure}
        question=${doubt.question}
        note="Nothing was sent yet."
        yes=${sureLabel(ask, reply)}
        no="Back"
        beat=${beat}
        isReady=${isOnline && !sending}
        onYes=${() => {
          setDoubt(null);
          void sendBody({ ...doubt.body, confirmed: true });
        }}
        onNo=${() => setDoubt(null)}
      />`}
    <//>
    <${Facts} ask=${ask} />
  </form>`);
}

const sureLabel = (ask, reply) => {
  const [first] = destructiveMarks(ask, reply);
  return first ? `Yes, ${first.label}` : "Yes, send it";
};

async function claim(ask) {
  try {
    takeAsks([await request("POST", projectPath(ask.project, "asks", ask.ask_id, "claim"), { key: newKey() })]);
  } catch {
    // a courtesy; it stops nobody, and its failing neither
  }
}

// Goes to where an answer begins; from there on the arrows are the browser's own.
function focusFirst(form, target) {
  const first = target.matches("input") ? null : form?.querySelector(ANSWERED_IN);
  first?.focus();
  return Boolean(first);
}

// Marks the option whose keycap was pressed: of the question that has the focus, or else of the first that is not marked.
function markByKey(form, target, name) {
  if (!form || name.length !== 1) return false;
  const groups = [...form.querySelectorAll("fieldset[data-field]")];
  const group =
    target.closest?.("fieldset[data-field]") ?? groups.find((each) => !each.querySelector("input:checked")) ?? groups.at(-1);
  if (!group) return false;
  const inputs = [...group.querySelectorAll("input[data-cap]")];
  // A number that is also another option's label could mean either, so it means none, as everywhere.
  const isLabel = inputs.some((each, at) => each.dataset.label === name && at !== Number(name) - 1);
  const byNumber = /^[1-9]$/.test(name) && !isLabel ? inputs[Number(name) - 1] : undefined;
  const input = inputs.find((each) => each.dataset.cap === name) ?? byNumber;
  if (!input) return false;
  input.focus();
  input.click();
  return true;
}
