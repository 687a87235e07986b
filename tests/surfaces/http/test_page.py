"""What the script of the sign-in page sends and keeps, in Node with as much of a browser as they touch."""

import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.patience import PATIENCE
from tools.node import find_node

__all__: list[str] = []

NAME, KEY = 64 * "3", 64 * "7"

# Runs one script of the page. What it sends is answered from REPLIES, by path; at the end all that it did is printed.
BROWSER = """
import { pathToFileURL } from "node:url";
const [script, given] = process.argv.slice(2);
const { hash, stored, replies, deeds } = JSON.parse(given);
const seen = { sent: [], went: [], address: [] };
const kept = new Map(Object.entries(stored));
globalThis.localStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, value) => {
    if (replies.full) throw new Error("full");
    kept.set(name, value);
  },
  removeItem: (name) => kept.delete(name),
};
const keys = {};
const store = { clear: () => ({}), put: (key, name) => (keys[name] = [key.type, key.extractable, key.usages]) };
globalThis.indexedDB = {
  open() {
    const opening = { result: { createObjectStore() {}, close() {}, transaction } };
    setImmediate(() => opening.onsuccess());
    return opening;
  },
};
function transaction() {
  const deed = { objectStore: () => store };
  setImmediate(() => deed.oncomplete());
  return deed;
}
if (replies.insecure) Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (bytes) => bytes } });
globalThis.location = { hash, pathname: "/sign-in", replace: (path) => seen.went.push(path) };
globalThis.history = { replaceState: (...given) => seen.address.push(given[2]) };
const parts = new Map();
function part(name) {
  if (!parts.has(name)) {
    const ears = {};
    const addEventListener = (kind, ear) => (ears[kind] = ear);
    parts.set(name, { ears, addEventListener, focus() {}, value: "", textContent: "", hidden: true, disabled: true });
  }
  return parts.get(name);
}
globalThis.document = { getElementById: part, title: "" };
globalThis.fetch = async (path, { headers = {}, method = "GET", body } = {}) => {
  seen.sent.push({ path, method, headers, body, field: part("token").value });
  if (!(path in replies)) throw new TypeError("no answer");
  const [status, told] = replies[path];
  return { status, ok: status < 300, json: async () => told };
};
async function rest() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setTimeout(done, 1));
}
await import(pathToFileURL(script));
await rest();
for (const [name, kind, value] of deeds) {
  if (value !== null) part("token").value = value;
  part(name).ears[kind]({ preventDefault() {} });
  await rest();
}
const shown = [...parts].filter(([, found]) => !found.hidden).map(([name]) => name);
const { textContent: told } = part("told");
console.log(JSON.stringify({ ...seen, shown, told, kept: Object.fromEntries(kept), keys, field: part("token").value }));
"""


def run(folder: Path, script: str, replies: dict[str, Any], *deeds: list[Any], **given: Any) -> Any:
    """Run a script of the page, and do something in it; return what it sent, kept and showed."""
    for name in ("session", script):
        text = files("assent.surfaces.http").joinpath("page", f"{name}.js").read_text()
        folder.joinpath(f"{name}.mjs").write_text(text.replace('"/page/session.js"', '"./session.mjs"'))
    folder.joinpath("browser.mjs").write_text(BROWSER)
    told = {"hash": "", "stored": {}, "replies": replies, "deeds": deeds} | given
    command = [find_node(), "browser.mjs", str(folder / f"{script}.mjs"), msgspec.json.encode(told).decode()]
    ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE, check=True)
    return msgspec.json.decode(ran.stdout)


SIGNED = {"/sign-in": (200, {"name": "ana", "session": NAME, "key": KEY})}
KEPT = {NAME: ["secret", False, ["sign", "verify"]]}
REFUSED = {"/sign-in": (401, {"error": {"message": "No."}})}


def test_link_signs_in_at_a_click_and_the_page_keeps_the_key(tmp_path: Path) -> None:
    """The code leaves the address at once; nothing is sent before the click, and nothing but the code then."""
    waiting = run(tmp_path, "sign-in", SIGNED, hash="#c0de")
    assert (waiting["sent"], waiting["address"]) == ([], ["/sign-in"])
    seen = run(tmp_path, "sign-in", SIGNED, ["enter", "click", None], hash="#c0de")
    assert [(sent["path"], sent["body"]) for sent in seen["sent"]] == [("/sign-in", '{"code":"c0de"}')]
    assert (seen["kept"], seen["keys"], seen["went"]) == ({"assent-session": NAME}, KEPT, ["/"])


def test_pasted_token_is_sent_once_and_kept_nowhere(tmp_path: Path) -> None:
    """The field is empty before the request goes out; what is kept is the session's name and a key that can only sign."""
    seen = run(tmp_path, "sign-in", SIGNED, ["paste", "submit", " assent_1 "])
    [sent] = seen["sent"]
    assert (sent["body"], sent["field"]) == ('{"token":"assent_1"}', "")
    assert (seen["kept"], seen["keys"]) == ({"assent-session": NAME}, KEPT)
    assert (seen["went"], seen["field"]) == (["/"], "")
    assert run(tmp_path, "sign-in", SIGNED, ["paste", "submit", " "])["sent"] == []


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        (REFUSED, "No."),
        ({}, "The server does not answer. It may have stopped."),
        (
            SIGNED | {"full": True},
            "This browser keeps nothing for this page, so nobody can stay signed in here.",
        ),
    ],
    ids=["no", "silence", "full"],
)
def test_refusal_is_shown_and_nothing_is_kept(tmp_path: Path, replies: dict[str, Any], told: str) -> None:
    """A sentence, whatever went wrong; the page stays where it is."""
    seen = run(tmp_path, "sign-in", replies, ["paste", "submit", "assent_1"])
    assert seen["told"] == told
    assert (seen["kept"], seen["went"], seen["field"]) == ({}, [], "")


@pytest.mark.parametrize("hash_", ["", "#c0de"], ids=["form", "link"])
def test_page_that_can_keep_no_key_sends_nothing_and_says_why(tmp_path: Path, hash_: str) -> None:
    """Plain HTTP from another machine: neither the code nor a token leaves the page, nor is there where to click."""
    seen = run(tmp_path, "sign-in", SIGNED | {"insecure": True}, hash=hash_)
    assert "plain HTTP from another machine" in seen["told"]
    assert (seen["sent"], seen["kept"], seen["keys"]) == ([], {}, {})
    assert not {"enter", "paste"} & set(seen["shown"])
