"""The page about pull requests shows the comment as it is posted."""

from msgspec.structs import replace

from assent.protocol.prompt import question
from assent.surfaces.comment_text import MARKER, render_answered, render_body
from tests.samples import digest_of, new_answer, new_ask
from tools.page import ROOT

__all__: list[str] = []

PAGE = (ROOT / "docs" / "how-to" / "answer-on-a-pull-request.md").read_text()
PROMPT = question("Which colour?", ["Red", "Blue"])
ASK = new_ask(1, prompt=PROMPT, digest=digest_of(PROMPT))


def test_page_shows_the_comment_that_is_posted() -> None:
    """Word by word, but for the id and the marker that nobody sees."""
    body, _, _ = render_body(ASK, "n0nce", "c0ffee").partition(f"\n\n{MARKER}")
    assert f"```markdown\n{body.replace(ASK.ask_id[-6:], '7vrbms')}\n```" in PAGE


def test_page_shows_how_the_comment_ends() -> None:
    """Its first line."""
    answer = new_answer(values={"q1": ("Blue",)}, by="human:ana@github")
    first = render_answered("", replace(ASK, answer=answer)).split("\n")[0]
    assert f"```markdown\n{first}\n```" in PAGE
