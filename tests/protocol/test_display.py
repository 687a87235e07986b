"""Nothing hidden stays hidden, nothing ordinary is touched, and look-alikes have one shape."""

import sys
import unicodedata

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol import display as module
from assent.protocol.display import display, fold, is_blank, is_encodable, is_hidden, quote, skeleton
from tests.protocol.strategies import modest

EVERY = [chr(point) for point in range(sys.maxunicode + 1)]
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=30)

# Drawn as nothing although they are letters, marks or symbols: written down again, by their Unicode names.
SILENT = [
    "COMBINING GRAPHEME JOINER",
    "HANGUL CHOSEONG FILLER",
    "HANGUL JUNGSEONG FILLER",
    "HANGUL FILLER",
    "HALFWIDTH HANGUL FILLER",
    "KHMER VOWEL INHERENT AQ",
    "KHMER VOWEL INHERENT AA",
    "MONGOLIAN FREE VARIATION SELECTOR ONE",
    "MONGOLIAN FREE VARIATION SELECTOR FOUR",
    "MONGOLIAN VOWEL SEPARATOR",
    "BRAILLE PATTERN BLANK",
    "OBJECT REPLACEMENT CHARACTER",
    "MUSICAL SYMBOL NULL NOTEHEAD",
    *(f"VARIATION SELECTOR-{number}" for number in range(1, 257)),
]
TEMPLATES = [
    "{}",
    "{} yes",
    "yes {}",
    "y{}es",
    "{0}{0}",
    "a\n{}",
    "{}\nb",
    '"{}"',
    "https://x.example/{}",
    "日{}本",
]


def mark(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def must_be_marked(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def test_every_control_format_private_or_unassigned_character_becomes_a_mark() -> None:
    """S3, S4: all code points of these categories, none left out, this Python's unknown ones included."""
    bad = [character for character in EVERY if must_be_marked(character)]
    assert all(map(is_hidden, bad))
    # Unassigned and private ones are a million, shown by one rule: every hundredth of them stands for the others.
    dull = {"Cn", "Co"}
    few = [c for n, c in enumerate(bad) if n % 100 == 0 or unicodedata.category(c) not in dull]
    assert display("".join(few), lines=False) == "".join(map(mark, few))


def test_letter_or_mark_that_is_drawn_as_nothing_becomes_a_mark() -> None:
    """S4: selectors, fillers and blanks that no category gives away."""
    for character in map(unicodedata.lookup, SILENT):
        assert display(f"a{character}b") == f"a{mark(character)}b"


def test_hidden_character_in_any_place_of_a_text_becomes_a_mark() -> None:
    """S4: each of them in ten templates; nothing around it changes."""
    known = [
        c
        for c in EVERY
        if is_hidden(c) and unicodedata.category(c) not in {"Cn", "Co", "Cs"} and c not in "\n\t\r"
    ]
    assert len(known) > 480
    for character in known:
        for template in TEMPLATES:
            assert display(template.format(character)) == template.format(mark(character))


def test_all_assigned_characters_together_leave_nothing_hidden() -> None:
    """S4: whatever stands beside it."""
    assigned = "".join(
        character for character in EVERY if unicodedata.category(character) not in {"Cn", "Co", "Cs"}
    )
    shown = set(display(assigned))
    assert {character for character in shown if is_hidden(character)} == {"\n", "\t"}


@pytest.mark.parametrize(
    "text",
    [
        "Which database?",
        "Wählen Sie: Größe, naïve façade, Łódź, ĳs",
        "データベースはどれにしますか？　一つ選んでください。",
        "其他（可填写）",
        "어떤 데이터베이스를 사용할까요?",
        "أي قاعدة بيانات نستخدم؟ مُحَمَّد",
        "באיזה מסד נתונים?",
        "कौन सा डेटाबेस? क्षत्रिय",
        "เลือกฐานข้อมูลใด? ที่นี่",
        "Какую базу данных? Ещё й",
        "Quelle base ? «\u00a0oui\u00a0»",
        "🛑 🚀 👍🏽 ✓ → — …",
        "x\u0302 + y\u0304\u0301",
        "\ttab\nline",
    ],
)
def test_ordinary_text_passes_untouched(text: str) -> None:
    """Rule 2: people write in all scripts."""
    assert display(text) == text


def test_new_lines_and_tabs_survive_only_in_lines() -> None:
    """A label has one line, whatever its author put in it."""
    assert display("a\tb\nc\r\nd\re") == "a\tb\nc\nd<U+000D>e"
    assert display("a\tb\nc\r\nd", lines=False) == "a<U+0009>b<U+000A>c<U+000D><U+000A>d"


def test_tower_of_marks_is_cut_to_eight_and_the_rest_is_marked() -> None:
    """Marks stacked without end paint over the lines around them."""
    acute = "\u0301"
    assert display("a" + 8 * acute) == "a" + 8 * acute
    assert display("a" + 11 * acute + "b") == "a" + 8 * acute + 3 * "<U+0301>" + "b"
    assert display(("a" + 9 * acute) * 2) == ("a" + 8 * acute + "<U+0301>") * 2


def test_mark_without_a_base_cannot_sit_on_what_stands_before_the_text() -> None:
    """A leading stroke would cross out our own sign in front of it."""
    assert display("\u0338no") == "<U+0338>no"
    assert display("yes\n\u0338no") == "yes\n<U+0338>no"


@pytest.mark.parametrize(
    "payload",
    [
        "\x1b[2J\x1b[H",
        "\x1b]0;title\x07",
        "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
        "\x1b]52;c;ZXZpbA==\x07",
        "\x1bP1$r0m\x1b\\",
        "\x1b[?1049h",
        "\x1b[10A\x1b[31m",
        "\x9b2J\x9d0;t\x9c",
        "safe\rfake",
        "ab\b\b\x7f\x00",
        "\x0e\x0f\x0c\x0b\x05",
    ],
)
def test_terminal_shows_an_escape_and_does_not_obey_it(payload: str) -> None:
    """S3: replayed in a terminal emulator, the screen holds the marks cell by cell."""
    screen = pyte.Screen(200, 3)
    stream = pyte.Stream(screen)
    stream.feed(display(payload))
    assert screen.display[0].rstrip() == display(payload)
    assert screen.display[1].strip() == ""
    assert screen.title == ""


@modest
@given(ANY_TEXT)
def test_shown_text_has_nothing_hidden_and_showing_it_again_changes_nothing(text: str) -> None:
    """Rule 1, for any text; so a surface may pass text through twice."""
    shown, line = display(text), display(text, lines=False)
    assert not [c for c in shown if is_hidden(c) and c not in "\n\t"]
    assert not [c for c in line if is_hidden(c)]
    assert display(shown) == shown
    assert display(line, lines=False) == line
    assert len(line.splitlines()) <= 1
    assert is_encodable(shown)


def test_tables_stay_small_and_right_when_a_text_tries_every_character() -> None:
    """A hostile text must not fill the memory, nor make later texts wrong."""
    display("".join(EVERY[0x10000:0x14000]))
    assert len(module._SHOWN_IN_LINES) <= module._MAX_KEPT
    assert display("a\x1bb\n") == "a<U+001B>b\n"


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b", "\u3164 \u2800\x00", "\u00a0\u2003"])
def test_text_of_spaces_and_hidden_characters_is_blank(text: str) -> None:
    """Nobody can have meant anything by it."""
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " . ", "\u200b-", "日"])
def test_text_with_something_to_see_is_not_blank(text: str) -> None:
    """Twin of the test above."""
    assert not is_blank(text)


def test_quoted_text_is_one_line_of_at_most_the_limit() -> None:
    """What stands in a sentence of ours must not tear it apart."""
    assert quote("a\nb") == "a<U+000A>b"
    assert quote("x" * 200) == "x" * 200
    assert quote("x" * 201) == "x" * 199 + "…"
    assert len(quote("\x1b" * 5000)) == 200


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Approve", "Аpprоvе"),  # Cyrillic A, o, e
        ("approve", "approνe"),  # Greek nu
        ("NO", "ΝΟ"),  # Greek
        ("Yes", "Ｙｅｓ"),  # full width
        ("Yes", "𝒀𝒆𝒔"),  # mathematical
        ("Yes", "Yes\u200b"),
        ("Yes", " yes \u00a0"),
        ("Deploy now", "Deploy  now"),
        ("admin", "adm\u0131n"),  # dotless i
        ("Illinois", "lllinois"),
        ("file-1", "file‐l"),  # hyphen, l
        ("v1.0", "vl.o"),
        ("don't", "don’t"),
        ("Ꭺ", "A"),
        ("ꭺ", "A"),  # small Cherokee
        ("scope", "ѕсоре"),
        ("Home", "Ноme"),
        ("ё", "ë"),
        ("cafe\u0301", "café"),
        ("a|b", "alb"),
        ("Straße", "STRASSE"),
    ],
)
def test_texts_that_can_be_mistaken_for_each_other_have_one_shape(one: str, other: str) -> None:
    """S4: a person tells options apart by sight."""
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("yes", "no"),
        ("resume", "résumé"),
        ("modern", "modem"),
        ("съел", "сел"),
        ("съел", "свел"),
        ("είναι", "ήταν"),
        ("οι", "σι"),
        ("үг", "уг"),
        ("є", "е"),
        ("PostgreSQL", "SQLite"),
        ("A", "B"),
        ("Keep 3 days", "Keep 8 days"),
        ("日本", "日木"),
        ("+1", "-1"),
    ],
)
def test_honest_words_keep_shapes_of_their_own(one: str, other: str) -> None:
    """Twin of the test above: a shape that swallows words would refuse good prompts."""
    assert skeleton(one) != skeleton(other)


def test_each_look_alike_is_listed_once_and_reachable() -> None:
    """A twin that normalising changes first, or that stands in two rows, would be a row that does nothing."""
    twins = [twin for row in module._LOOK_ALIKES.values() for twin in row if twin != " "]
    assert len(set(twins)) == len(twins)
    for seen, row in module._LOOK_ALIKES.items():
        assert skeleton(seen) == seen or seen == "'"
        for twin in row.replace(" ", ""):
            assert skeleton(f"{twin}x") == skeleton(f"{seen}x"), (seen, twin)


@modest
@given(ANY_TEXT)
def test_shape_is_stable_and_shows_no_more_than_the_text(text: str) -> None:
    """S4: the canonical form is defined for every text."""
    shape = skeleton(text)
    assert shape == " ".join(shape.split())
    assert not [c for c in shape if is_hidden(c)]
    assert bool(shape) <= (not is_blank(text))


def test_shape_of_a_tower_takes_no_longer_than_its_length() -> None:
    """Normalising sorts the marks on a base: without the cut this text takes minutes, not milliseconds."""
    assert skeleton("a" + "\u0301\u0316" * 100_000) == skeleton("a" + "\u0301\u0316" * 4)


def test_shape_of_a_text_is_at_most_seven_times_as_long() -> None:
    """Two signs stand for whole phrases when they are normalised; a label of them must not cost seconds."""
    alike = {"Cn", "Co"}  # what has no meaning yet is normalised to itself, so that every hundredth will do
    signs = (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    tried = (sign for sign in signs if unicodedata.category(sign) not in alike or ord(sign) % 100 == 0)
    assert max(len(skeleton(sign)) for sign in tried) <= 7


def test_folding_trims_collapses_and_ignores_case() -> None:
    """G-X7: how exact a label match is."""
    assert fold("  Pause \n &\tSAVE ") == "pause & save"
    assert fold("STRASSE") == fold("straße")


def test_half_of_a_surrogate_pair_cannot_be_encoded() -> None:
    """A terminal hands such halves on when it reads bytes that are no text."""
    assert is_encodable("日本 a")
    assert not is_encodable("a\udc80")
