// One ask: a frame that is the same for all kinds. Kind and origin, title, what is at stake, the matter, the agent's words,
// the choices, and one bar that says what would be sent.
//
// Rule 1: a letter or number marks, Enter sends. Nothing is marked at the start, but what this person marked before.
// Rule 2: for a beat after an ask was drawn neither keys nor the button count.
// Rule 3: whatever is marked or written is kept on this device until the answer is accepted.
// Rule 4: what became of an answer is what the server says: it was the one, or somebody else's was, or it is too late.

import { html, useEffect, useLayoutEffect, useRef, useState } from "/page/html.js";
import { get, newKey, projectPath, request } from "/page/api.js";
import { Bar } from "/page/bar.js";
import { MATTERS } from "/page/matter.js";
import { dropDraft, keepDraft, readDraft } from "/page/draft.js";
import { Facts } from "/page/facts.js";
import { Fate } from "/page/fate.js";
import { Head } from "/page/head.js";
import { onKey, useBeat } from "/page/keys.js";
import { look } from "/page/presence.js";
import { bodyOf, emptyReply, isBlank, keptLines, lacking, unmark } from "/page/reply.js";
import { setFate, takeAsks, useStore } from "/page/store.js";

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
  const isShown = ask !== undefined && !(ask instanceof Error);
  const isArmed = useBeat(`${askId} ${isShown}`); // from when it can be seen, which may be long after it was wanted
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
  return html`<div class="askframe ${isArmed ? "is-armed" : "is-arming"}">
    <${Answerable} ask=${ask} isArmed=${isArmed} next=${next} />
  </div>`;
}

function useReply(ask, by) {
  const [reply, keepReply] = useState(() => readDraft(ask.ask_id, by)?.reply ?? emptyReply());
  const [isKept, setKept] = useState(() => Boolean(readDraft(ask.ask_id, by)));
  const setReply = (next) => {
    keepReply(next);
    if (!isBlank(next)) setKept(keepDraft(ask.ask_id, by, next));
    else {
      dropDraft(ask.ask_id, by);
      setKept(false);
    }
  };
  return { reply, setReply, isKept };
}

function Answerable({ ask, isArmed: isCardArmed, next }) {
  const who = useStore((state) => state.who);
  const { reply, setReply, isKept } = useReply(ask, who?.name);
  const fate = useStore((state) => state.fates.get(ask.ask_id));
  const isOnline = useStore((state) => state.link.isOnline);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const [declining, setDeclining] = useState(null); // the reason in the making, or null
  // What Enter sends is another thing once declining has begun, so the beat begins anew.
  const isArmed = useBeat(String(declining !== null)) && isCardArmed;
  const attempt = useRef({ key: "", text: "", isUnknown: false });
  const form = useRef();

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
      else setProblem(error.message);
    } finally {
      setSending(false);
    }
  };

  const send = async () => {
    if (!isArmed || lack || !isOnline || sending) return;
    const text = JSON.stringify(declining !== null ? { decline: true, reason: declining.trim() } : bodyOf(ask, reply));
    // The same answer sent again, after a reply that was lost, goes by the same key.
    if (attempt.current.text !== text) attempt.current = { key: newKey(), text, isUnknown: false };
    await deliver();
  };

  // Of an answer whose reply was lost the server is asked, by its key, as soon as the ask has ended: whose was it?
  useLayoutEffect(() => {
    if (ask.state !== "open" && isOnline && !sending && attempt.current.isUnknown) void deliver();
  }, [ask.state, isOnline]);

  // At once with the drawing: a key that follows on another's heels must find what that one marked.
  useLayoutEffect(() => {
    if (ask.state !== "open") return undefined;
    return onKey({
      Enter: () => void send(),
      "Ctrl+Enter": () => void send(),
      Backspace: () => {
        if (!isArmed) return;
        setReply(unmark(reply));
        setDeclining(null);
      },
      ArrowDown: ({ target }) => focusFirst(form.current, target),
      "Shift+D": () => isArmed && setDeclining(""),
      "Shift+C": () => isArmed && claim(ask),
      "Shift+I": () => void navigator.clipboard?.writeText(ask.ask_id),
      Escape: () => (declining === null ? false : setDeclining(null)),
      any: (event, name) => (OURS.has(name) ? false : isArmed && markByKey(form.current, event.target, name)),
    });
  });

  // While it is being sent, its own event may come first: whose answer it was is known when the reply is here.
  if (ask.state !== "open" && !sending) {
    return html`<${Fate} ask=${ask} fate=${fate} who=${who} kept=${fate?.isMine ? [] : keptLines(ask, reply)} next=${next} />`;
  }
  // Whoever marks something does not decline any more.
  const mark = (made) => {
    setDeclining(null);
    setReply(made);
  };
  const Matter = MATTERS[ask.kind] ?? MATTERS.question;
  return html`<form
    class="ask"
    ref=${form}
    aria-labelledby="t-ask"
    onSubmit=${(event) => {
      event.preventDefault();
      void send();
    }}
  >
    <div class="ask-main">
      <${Head} ask=${ask} />
      <${Matter} ask=${ask} reply=${reply} setReply=${mark} problem=${problem} />
      ${problem && html`<div class="echo" role="alert">${problem}</div>`}
    </div>
    <${Bar}
      ask=${ask}
      reply=${reply}
      setReply=${setReply}
      lack=${lack}
      isArmed=${isArmed}
      isOnline=${isOnline}
      isKept=${isKept}
      sending=${sending}
      declining=${declining}
      setDeclining=${setDeclining}
    />
    <${Facts} ask=${ask} />
  </form>`;
}

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
  const byNumber = /^[1-9]$/.test(name) ? inputs[Number(name) - 1] : undefined;
  const input = inputs.find((each) => each.dataset.cap === name) ?? byNumber;
  if (!input) return false;
  input.focus();
  input.click();
  return true;
}
