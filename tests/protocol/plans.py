"""Plans for tests: a good one to change, and honest ones of every spelling."""

from random import Random

from hypothesis import strategies as st

__all__ = ["GOOD", "STATUS_WORDS", "honest_plans"]

STATUS_WORDS = ("TODO", "IN_PROGRESS", "DONE", "BLOCKED", "CANCELLED")

GOOD = """\
<?xml version="1.0" encoding="UTF-8"?>
<plan>
  <metadata>
    <track_id>add-login</track_id>
    <track_name>Log in</track_name>
    <goal>People can log in.</goal>
    <created_at>2026-01-02T03:04:05Z</created_at>
    <updated_at>2026-01-02T03:04:05+01:00</updated_at>
    <status>in_progress</status>
    <commit_mode>auto</commit_mode>
  </metadata>
  <phases>
    <phase id="P1" name="Base">
      <goal>A base.</goal>
      <confirm protocol="yield-human-confirm" when="both" status="TODO"/>
      <tasks>
        <task id="T1.1" name="Table" status="DONE" priority="P0">
          <subtasks>
            <subtask id="T1.1.1" name="Columns" status="DONE"/>
            <subtask id="T1.1.2" name="Index" status="CANCELLED"/>
          </subtasks>
        </task>
        <task id="T1.2" name="Form" status="TODO" priority="P1">
          <dependencies>T1.1</dependencies>
          <confirm protocol="yield-ai-confirm" when="after" ai-agent="critic" status="TODO"/>
        </task>
      </tasks>
    </phase>
  </phases>
</plan>
"""


_SIGNS = (
    *(
        "a",
        "Z",
        "0",
        "9",
        " ",
        ".",
        ",",
        ":",
        "/",
        "-",
        "_",
        "=",
        "?",
        "!",
        "(",
        ")",
        ">",
        "&",
        "<",
        '"',
        "'",
    ),
    *("中", "文", "é", "😀", "״", " status=", "<confirm ", "/>", "\u200b", "]]", "--"),
)
_BLANKS = (" ", "  ", "\n", "\t", "\n      ", " \n\t ")
_LOOSE = ("", "", " ", "\n")
_EXTRA = {"data-status": "TODO", "x:status": "DONE", "statuses": "no"}


def _escaped(text: str, quote: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")
    return text.replace(quote, "&quot;" if quote == '"' else "&#39;")


class _Author:
    """Writes one plan by chance. A draw of Hypothesis for each word would take minutes for a thousand plans."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._pick = self._chance.choice

    def _words(self) -> str:
        return "".join(self._chance.choices(_SIGNS, k=self._chance.randrange(9)))

    def _attribute(self, name: str, value: str) -> str:
        quote = self._pick("\"'")
        written = _escaped(value, quote)
        if name not in ("status", "id"):
            written += self._pick(["", "", "&#x4e2d;", "&amp;", "&#65;", "&gt;"])
        pick = self._pick
        return f"{pick(_BLANKS)}{name}{pick(_LOOSE)}={pick(_LOOSE)}{quote}{written}{quote}"

    def _tag(self, name: str, attributes: dict[str, str], body: str = "") -> str:
        told = attributes | {key: value for key, value in _EXTRA.items() if self._chance.random() < 0.3}
        names = self._chance.sample(sorted(told), len(told))
        inside = "".join(self._attribute(key, told[key]) for key in names)
        if not body and self._chance.random() < 0.5:
            return f"<{name}{inside}{self._pick(_LOOSE)}/>"
        return f"<{name}{inside}{self._pick(_LOOSE)}>{body}</{name}{self._pick(_LOOSE)}>"

    def _filler(self) -> str:
        words = self._words()
        bare = words.translate(dict.fromkeys(map(ord, "-?]")))
        fillers = (
            *("", "\n    ", "&amp;&#x4e2d;&lt;confirm status='TODO'/&gt;"),
            f"<!-- {bare} <task status='TODO'> -->",
            f"<?note {bare} status='TODO' ?>",
            f'<![CDATA[{bare} <confirm status="TODO"/>]]>',
            f"<p:note>{_escaped(words, chr(34))}</p:note>",
        )
        return self._pick(fillers)

    def _confirm(self) -> str:
        told = {
            "when": self._pick(["before", "after", "both"]),
            "status": self._pick(STATUS_WORDS),
            "protocol": self._pick(["yield-human-confirm", "yield-ai-confirm"]),
            "ai-agent": self._words(),
        }
        return self._tag("confirm", told)

    def _owner(self, name: str, number: str, body: str) -> str:
        confirms = "".join(self._confirm() for _ in range(self._chance.randrange(3)))
        told = {"id": number, "name": self._words()}
        if name == "task":
            told |= {"status": self._pick(STATUS_WORDS), "priority": self._pick(["P0", "P1", "P2"])}
        return self._tag(name, told, f"{self._filler()}{confirms}{body}{self._filler()}")

    def _task(self, number: str) -> str:
        told = {"id": f"{number}.1", "name": self._words(), "status": self._pick(STATUS_WORDS)}
        return self._owner("task", number, f"<subtasks>{self._tag('subtask', told)}</subtasks>")

    def _phase(self, number: int) -> str:
        tasks = "".join(self._task(f"T{number}.{task}") for task in range(1, self._chance.randint(2, 3)))
        return self._owner("phase", f"P{number}", f"<tasks>{self._filler()}{tasks}</tasks>")

    def plan(self) -> bytes:
        """Return the plan."""
        phases = "".join(self._phase(number) for number in range(1, self._chance.randint(2, 3)))
        spaces = self._pick(["", ' xmlns="urn:plan"']) + ' xmlns:x="urn:x" xmlns:p="urn:p"'
        root = f"<plan{spaces}>{self._filler()}<phases>{phases}</phases>{self._filler()}</plan>"
        head = self._pick(
            ["", "<?xml version='1.0' encoding='utf-8'?>\n", '<?xml version="1.0"?><!-- <!DOCTYPE -->']
        )
        whole = head + root + self._pick(["", "\n", "\n<!-- end -->\n", " "])
        ends = self._pick(["\n", "\r\n", "\r"])
        return self._pick([b"", b"\xef\xbb\xbf"]) + whole.replace("\n", ends).encode()


def honest_plans() -> st.SearchStrategy[bytes]:
    """Make well-formed plans with at least one status, in any spelling that XML allows."""
    return st.integers(0, 1 << 60).map(lambda seed: _Author(seed).plan())
