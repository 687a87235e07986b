"""The applier that is shipped as an example has an agent do the work, and takes nothing but the document from it."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from assent.effects.applier import run_applier
from assent.protocol.applier_file import parse_applier
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError
from tools.page import ROOT

__all__: list[str] = []

EXAMPLES = ROOT / "examples"
DOCUMENT = "# Plan\n\nUse one cache.\nBEGIN here\n"
FINDING: dict[str, Json] = {
    "section": "Scope {x}",
    "why_it_matters": "Nobody needs it.",
    "suggested_fix": "Leave the cache out.",
}

# Takes the document from its prompt, as an agent would, and says it with a change; ANSWER may say something else.
FAKE_AGENT = """\
#!{python}
import json, os, pathlib, re, sys
prompt = sys.stdin.read()
told = {{"words": sys.argv[1:], "prompt": prompt, "environ": dict(os.environ)}}
pathlib.Path("told").write_text(json.dumps(told))
mark = re.search("^BEGIN ([0-9a-f]+)$", prompt, re.M)[1]
document = prompt.rpartition(f"BEGIN {{mark}}\\n")[2].partition(f"\\nEND {{mark}}")[0]
print(os.environ["ANSWER"].format(mark=mark, document=document.replace("one cache", "no cache")))
sys.exit(int(os.environ.get("STATUS", "0")))
"""
MARKED = "BEGIN {mark}\n{document}\nEND {mark}"


def run_example(folder: Path, answer: str, document: str = DOCUMENT, **variables: str) -> str:
    """Run the shipped applier with an agent that notes what it is told; return the new document."""
    programs, own = folder / "bin", folder / ".assent"
    programs.mkdir()
    own.mkdir()
    fake = programs / "claude"
    fake.write_text(FAKE_AGENT.format(python=sys.executable))
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    (own / "apply_with_agent.py").write_bytes((EXAMPLES / "apply_with_agent.py").read_bytes())
    applier = parse_applier((EXAMPLES / "review.toml").read_bytes(), "review.toml")
    assert applier is not None
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, **applier.env, "PATH": path, "CLAUDECODE": "1", "ANSWER": answer, **variables}
    return run_applier(applier.command, folder, environ, applier.seconds)(FINDING, document)


def test_shipped_applier_has_an_agent_make_one_change_without_tools(tmp_path: Path) -> None:
    """Headless, with the finding and the document in its prompt; what it says around the document is left out."""
    after = run_example(tmp_path, f"Here is your document:\n{MARKED}\nAnything else?")
    assert after == DOCUMENT.replace("one cache", "no cache")
    told = json.loads((tmp_path / "told").read_text())
    assert told["words"] == [
        "--print",
        "--disallowedTools",
        "Read,Grep,Glob,Bash,Edit,Write,NotebookEdit,WebFetch,WebSearch,Task",
        "--output-format",
        "text",
    ]
    assert (
        "section: Scope {x}\nwhat is wrong: Nobody needs it.\nthe change: Leave the cache out.\n"
        in told["prompt"]
    )
    assert DOCUMENT in told["prompt"]
    assert told["environ"]["ASSENT_PRINCIPAL"] == "agent:applier"
    assert "CLAUDECODE" not in told["environ"]


@pytest.mark.parametrize("document", [DOCUMENT, DOCUMENT.removesuffix("\n")], ids=["ended", "cut"])
def test_shipped_applier_keeps_the_end_of_the_document(tmp_path: Path, document: str) -> None:
    """A last line without an end stays one."""
    assert run_example(tmp_path, MARKED, document) == document.replace("one cache", "no cache")


@pytest.mark.parametrize(
    "answer",
    ["{document}", "BEGIN {mark}\n{document}", "BEGIN 0\n{document}\nEND 0"],
    ids=["bare", "open", "other"],
)
def test_document_that_is_not_between_the_marks_is_none(tmp_path: Path, answer: str) -> None:
    """Half of an answer, or a refusal, must not become the document."""
    with pytest.raises(EffectError, match="ended with status 1"):
        run_example(tmp_path, answer)


def test_shipped_applier_fails_with_its_agent(tmp_path: Path) -> None:
    """A document that the agent printed before it failed does not count."""
    with pytest.raises(EffectError, match="ended with status 5"):
        run_example(tmp_path, MARKED, STATUS="5")
