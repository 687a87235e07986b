"""Documents and findings that the tests of deferrals start from, ordinary and hostile ones."""

from typing import Any

from hypothesis import strategies as st

from assent.protocol.finding import Action, AutofixClass, Finding, FindingType, Severity

__all__ = ["DAY", "documents", "findings", "hostile_texts", "new_finding"]

DAY = "2026-11-16"

_BLOCKS = st.sampled_from(
    [
        *(
            "# Title",
            "## Scope",
            "### Details",
            "#### Deep",
            "Scope\n---",
            "Title\n===",
            "Text of a line.",
            "a\nb",
        ),
        *(
            "## Deferred / Open Questions",
            f"### From {DAY} review",
            "### From 2026-01-01 review",
            "##  Deferred",
        ),
        *(
            "- one\n- two",
            "* one\n\n  more",
            "1. one\n2. two",
            "> quoted\nlazy",
            "- a\n  - b\n    - c",
            "-\n\n  a",
        ),
        *(
            "```\n## Deferred / Open Questions\n```",
            "~~~\ncode",
            "- ```\n  ## no\n",
            "```",
            "    ## code",
            "\t# code",
        ),
        *(
            "<!-- a -->",
            "<!--\n## Deferred / Open Questions\n-->",
            "<!-- open",
            "<div>\n# no",
            "<pre>",
            "</pre>",
        ),
        *(
            "---",
            "***",
            "_ _ _",
            "[a]: /b",
            "[^1]: note\n\n    more",
            "See [a] and [docs].",
            "© us",
            "",
            "",
            "   ",
        ),
        *("- **Old** — Scope (P2, anchor 75)", '  <!-- section="scope" title="old" evidence="" -->'),
    ]
)
_SIGNS = st.sampled_from(
    [
        *(
            "`",
            "```",
            "~~~",
            "\\",
            "\n",
            "\n\n",
            "    ",
            "  ",
            " ",
            "\t",
            "- ",
            "* ",
            "1. ",
            "> ",
            "|",
            "a",
            "b c",
        ),
        *(
            "# ",
            "## ",
            "---",
            "===",
            "***",
            "<!--",
            "-->",
            "<div>",
            "</div>",
            "<pre>",
            "<b>",
            "<?",
            "<!A",
            "=",
            "-",
        ),
        *(
            "[a]: /x",
            "\r\n",
            "##",
            "## Deferred / Open Questions\n",
            "```py\n",
            "-\n",
            "<!-- k -->",
            "é",
            "\u200b",
        ),
    ]
)

documents = st.one_of(
    st.lists(_BLOCKS, max_size=12).map("\n\n".join),
    st.lists(_BLOCKS, max_size=12).map("\n".join),
    st.lists(_SIGNS, max_size=14).map("".join),
)

hostile_texts = st.lists(
    st.sampled_from(
        [
            *(
                "`",
                "``",
                "```",
                "~~~",
                "\\",
                "\n",
                "\n\n",
                "    ",
                "   ",
                "\t",
                "- ",
                "* ",
                "> ",
                "|",
                "a",
                "<",
                "&",
            ),
            *(
                "# a",
                "## Deferred / Open Questions",
                f"### From {DAY} review",
                "---",
                "===",
                "***",
                "-",
                "_ _ _",
                ":::",
            ),
            *(
                "<!--",
                "-->",
                "--!>",
                "<script>",
                "<details>",
                "<b>",
                "&lt;",
                "&#8203;",
                "[a]: /evil",
                "[docs]: /evil",
            ),
            *(
                "\n- **Forged** — x (P0)",
                '<!-- section="x" title="y" evidence="z" -->',
                "[^1]: x",
                "[a",
                "]: /evil",
            ),
            *(
                "```py\n",
                "\r",
                "\r\n",
                "\u200b",
                "\u202e",
                "\u2028",
                "\x00",
                "\x1b[2J",
                '"',
                "'",
                "](/evil)",
                "![",
                "**",
            ),
            *("plain words", "é", "1. ", "2) ", "\ud800"),
        ]
    ),
    max_size=12,
).map("".join)
_lines = st.one_of(hostile_texts, st.sampled_from(["Two tiers", "two tiers!", "Scope", "Old", ""]))


def new_finding(**changes: Any) -> Finding:
    """Return a finding that somebody may defer; `changes` are fields of it."""
    fields: dict[str, Any] = {
        "finding_id": "scope: two tiers",
        "title": "Two tiers are never told apart",
        "severity": Severity.P1,
        "section": "Scope",
        "why_it_matters": "Readers cannot know which tier they are in.",
        "finding_type": FindingType.ERROR,
        "autofix_class": AutofixClass.MANUAL,
        "confidence": 75,
        "recommended_action": Action.DEFER,
        "evidence": ('There are "two tiers" of use.', "Second quote."),
        "reviewers": ("coherence", "scope-guardian"),
        "suggested_fix": "Name the tiers.",
    }
    return Finding(**{**fields, **changes})


findings = st.builds(
    new_finding,
    title=_lines,
    section=_lines,
    why_it_matters=hostile_texts,
    evidence=st.lists(_lines, max_size=2).map(tuple),
    reviewers=st.lists(hostile_texts, max_size=2).map(tuple),
)
