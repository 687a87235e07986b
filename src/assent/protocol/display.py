"""Untrusted text made safe to look at, and the shape by which two texts look alike.

Rule 1: nothing hidden stays hidden. What a terminal, a browser or a reader would swallow, obey or reorder
        becomes a mark that can be seen, `<U+200B>`.
Rule 2: ordinary text of every script passes as it is; clean ASCII passes in one search. What joins pictures to one
        picture is a part of it.
Rule 3: what this Python's Unicode tables do not know is marked, so an older table never shows more.
Rule 4: `display` is for eyes, `skeleton` for comparing. Neither is ever stored in place of the text.
Rule 5: what a machine will take word by word, such as a command, goes through `display_exact`: there every character
        counts, so a line end is drawn and marked, and so is every blank that is not a plain one, or that ends the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from itertools import groupby

__all__ = [
    "display",
    "display_exact",
    "first_line",
    "fold",
    "is_blank",
    "is_encodable",
    "is_hidden",
    "plain_shapes",
    "quote",
    "skeleton",
]

# Drawn as nothing, though Unicode files them under letters, marks and symbols. Written down rather than looked
# up because Python has no table of the default-ignorable characters.
_FILLERS = frozenset(
    [
        0x034F,  # combining grapheme joiner
        0x115F,  # Hangul fillers
        0x1160,
        0x3164,
        0xFFA0,
        0x17B4,  # Khmer inherent vowels
        0x17B5,
        *range(0x180B, 0x1810),  # Mongolian variation selectors and vowel separator
        0x2800,  # the Braille pattern without dots
        0xFFFC,  # stands for an object that is not there
        0x16FE4,  # Khitan filler
        0x1D159,  # the note without a head
        0x13441,  # Egyptian blanks
        0x13442,
        *range(0xFE00, 0xFE10),  # variation selectors
        *range(0xE0000, 0xE1000),  # tags, more selectors, and the room kept for their like
    ]
)

_CLEAN_LINES = re.compile(r"[\t\n\x20-\x7e]*").fullmatch
_CLEAN_LINE = re.compile(r"[\x20-\x7e]*").fullmatch
_CLEAN_EXACT = re.compile(r"(?:[\x20-\x7e]*[\x21-\x7e])?").fullmatch
_PICTURES = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x21AA),
    (0x231A, 0x23FF),
    (0x24C2, 0x24C2),
    (0x25AA, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B55),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1F000, 0x1FAFF),
)
"""Where the signs are that can be a part of a joined one."""


def _as_ranges(points: Iterable[int]) -> str:
    """Return these code points as the inside of a class; one of single signs would be searched sign by sign."""
    runs = (list(run) for _, run in groupby(enumerate(points), key=lambda pair: pair[1] - pair[0]))
    return "".join(f"{chr(run[0][1])}-{chr(run[-1][1])}" for run in runs)


_KNOWN = (point for first, last in _PICTURES for point in range(first, last + 1) if chr(point).isprintable())
_PICTURE = f"[{_as_ranges(_KNOWN)}]"
# What makes one picture of several, a picture of a sign, or a key of a digit. What joins comes first in it: a text is
# searched for that, and only there for what stands before it.
_JOINTS = re.compile(
    rf"(\ufe0f(?<={_PICTURE}\ufe0f)|\u200d(?:(?<={_PICTURE}\u200d)|(?<={_PICTURE}\ufe0f\u200d))(?={_PICTURE})"
    r"|\ufe0f(?<=[0-9#*]\ufe0f)(?=\u20e3))"
).split

_MAX_STACK = 8
"""Marks on one base: more than any script needs, less than it takes to paint over the lines around."""
_LONG_STACK = re.compile(rf"(?m:^)1+|(?<=1{{{_MAX_STACK}}})1+")

# Enough for any real text; a text that tries every code point must not make the tables grow for ever.
_MAX_KEPT = 8_192


def is_hidden(character: str) -> bool:
    """Whether a reader could not see this character, or a terminal would obey it."""
    if character.isprintable():
        return ord(character) in _FILLERS
    return unicodedata.category(character) != "Zs"


def _mark(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def _show(character: str) -> str:
    return _mark(character) if is_hidden(character) else character


def _show_in_lines(character: str) -> str:
    return character if character in "\n\t" else _show(character)


def _show_exact(character: str) -> str:
    if character == "\n":
        return f"{_mark(character)}\n"
    is_odd = character != " " and unicodedata.category(character) == "Zs"
    return _mark(character) if is_odd else _show(character)


def _strip_hidden(character: str) -> str:
    return "" if is_hidden(character) and not character.isspace() else character


def _draw_stack(character: str) -> str:
    """Return `1` for what sits on the character before it, a blank for anything else; lines stay lines."""
    stacks = unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me")
    return "1" if stacks and not is_hidden(character) else "\n" if character == "\n" else " "


class _Table(dict[int, str]):
    """What `str.translate` puts for each code point, filled as text comes by."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, point: int) -> str:
        if len(self) >= _MAX_KEPT:
            self.clear()
        shown = self[point] = self._rule(chr(point))
        return shown


_SHOWN = _Table(_show)
_SHOWN_IN_LINES = _Table(_show_in_lines)
_SHOWN_EXACT = _Table(_show_exact)
_BARE = _Table(_strip_hidden)
_STACKS = _Table(_draw_stack)
_MARKED = _Table(_mark)
_GONE = _Table(lambda _: "")


def display(text: str, *, lines: bool = True) -> str:
    r"""Return `text` with every hidden character as a visible mark; new lines and tabs survive in `lines`.

    >>> display("safe\u200b \x1b[2J")
    'safe<U+200B> <U+001B>[2J'
    >>> display("two\nlines", lines=False)
    'two<U+000A>lines'
    """
    if (_CLEAN_LINES if lines else _CLEAN_LINE)(text):
        return text
    if lines:
        text = text.replace("\r\n", "\n")
    table = _SHOWN_IN_LINES if lines else _SHOWN
    # Between two parts stands a joint.
    shown = "".join(part if at % 2 else part.translate(table) for at, part in enumerate(_JOINTS(text)))
    return shown if shown.isascii() else _without_towers(shown, _MARKED)


def display_exact(text: str) -> str:
    r"""Return `text` with a visible mark for all that could be taken for something else, also for line ends and tabs.

    >>> print(display_exact("ls # note\nrm -rf /srv\t"))
    ls # note<U+000A>
    rm -rf /srv<U+0009>
    """
    if _CLEAN_EXACT(text):
        return text
    shown = text.translate(_SHOWN_EXACT)
    if text.endswith(" "):
        shown = f"{shown[:-1]}{_mark(' ')}"
    return shown if shown.isascii() else _without_towers(shown, _MARKED)


def _without_towers(text: str, instead: _Table) -> str:
    """Replace what is stacked too high on one base, and marks that would sit on a character of ours."""
    pieces, end = [], 0
    for tower in _LONG_STACK.finditer(text.translate(_STACKS)):
        start, stop = tower.span()
        pieces += [text[end:start], text[start:stop].translate(instead)]
        end = stop
    return "".join([*pieces, text[end:]]) if pieces else text


def quote(text: str, limit: int = 200) -> str:
    """Return `text` as it can stand in a sentence of ours: on one line, and of at most `limit` characters."""
    shown = display(text[: limit + 1], lines=False)
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip("\u200d") + "…"


def first_line(text: str) -> str:
    r"""Return the first line of `text` as it can stand in a row; a sign says that there are more.

    >>> first_line("ls # note\nrm -rf /srv")
    'ls # note…'
    """
    first, end, _ = text.replace("\r\n", "\n").partition("\n")
    return display(first, lines=False) + "…" * bool(end)


def is_blank(text: str) -> bool:
    r"""Whether nothing of `text` can be seen.

    >>> is_blank(" \u200b\t")
    True
    """
    if not (text.isascii() and text.isprintable()):
        text = text.translate(_BARE)
    return not text.strip()


def is_encodable(text: str) -> bool:
    """Whether `text` can be written down at all: no half of a surrogate pair stands in it."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return False
    return True


def fold(text: str) -> str:
    """Return `text` as replies are compared (G-X7): trimmed, inner spaces collapsed, any case.

    >>> fold("  Pause  &  SAVE ")
    'pause & save'
    """
    return " ".join(text.split()).casefold()


# What each Latin letter, digit or sign could be taken for, by sight and so by case: the capital of the Greek nu
# is an N, the small one a v. No two letters that one language tells apart have the same twin, and letters with
# visible strokes or hooks are not here: honest words must not collide.
_LOOK_ALIKES = {
    "a": "Аа Αα Ꭺ ɑᴀ",
    "b": "Вв Ββ Ᏼ Ƅƅʙ",
    "c": "Сс Ꮯ ᴄ",
    "d": "Ԁԁ Ꭰ ᴅ",
    "e": "Ее Εε Ꭼ ᴇ",
    "f": "Ϝϝ ꜰ",
    "g": "Ԍԍ ց Ꮐ ɡɢ",
    "h": "Нһ Η հ Ꮋ ʜ",
    "j": "Јј Ϳϳ յ Ꭻ ᴊ",
    "k": "Кк Κκ Ꮶ ᴋ",
    "l": "1i| ІіӀӏ Ιι Լ Ꮮ ıɩɪʟǀ ∣❘",
    "m": "Мм Μ Ꮇ ᴍ",
    "n": "Пп Νη ո ɴ",
    "o": "0 Оо Οο Օօ ᴏ ०০੦૦௦౦೦൦๐໐ዐ",
    "p": "Рр Ρρ Ꮲ ᴘ",
    "q": "Ԛԛ գ",
    "r": "г Ꭱ ʀᴦ",
    "s": "Ѕѕ Տ Ꮪ ꜱ",
    "t": "Тт Ττ Ꭲ ᴛ",
    "u": "υ Սս ᴜ",
    "v": "Ѵѵ ν Ꮩ ᴠ",
    "w": "Ԝԝ ω ա Ꮃ ᴡ",
    "x": "Хх Χχ ×",
    "y": "Уу Υγ Ꮍ ʏ",
    "z": "Ζ Ꮓ ᴢ",
    "2": "Ƨƨ",
    "3": "Зз Ʒʒȝ",
    "4": "Чч Ꮞ",
    "5": "Ƽƽ",
    "6": "б Ꮾ",
    "8": "Ȣȣ ৪",
    "-": "‐‒–—―−⁃˗➖─",
    "'": "`´‘’‚‛′‵ʹʻʼʽʾʿˈˊˋ՚",
    '"': "“”„‟〃ˮ",
    ".": "·•∙⋅",
    ":": "ː˸։⁚∶ꓽ",
    "/": "⁄∕⧸╱",
    "\\": "∖⧵╲",
    "<": "‹❮",
    ">": "›❯",
    "*": "⁎∗",
    "~": "˜∼⁓",
}
_SHAPES = {ord(twin): seen for seen, twins in _LOOK_ALIKES.items() for twin in twins if twin != " "}
# Normalised, each of these signs would be a phrase: a text of them would be 18 times as long, and take as long to draw.
_SHAPES |= dict.fromkeys((0xFDFA, 0xFDFB), "\N{ARABIC LIGATURE BISMILLAH AR-RAHMAN AR-RAHEEM}")
_ASCII_SHAPES = bytes(ord(_SHAPES.get(point, chr(point))) for point in range(128)) + bytes(range(128, 256))


def plain_shapes(texts: list[str]) -> list[str] | None:
    """Return the skeletons of several texts at once if all are plain: printable ASCII in single spaces. Else nothing."""
    joined = "\n".join(texts)
    # A space that is doubled, or stands at an end of a text, would have to be taken out.
    has_loose_spaces = "  " in joined or "\n " in joined or " \n" in joined or joined != joined.strip()
    if has_loose_spaces or not joined.isascii() or not joined.replace("\n", "").isprintable():
        return None
    shapes = joined.lower().encode().translate(_ASCII_SHAPES).decode().split("\n")
    return shapes if len(shapes) == len(texts) else None


def skeleton(text: str) -> str:
    r"""Return the shape of `text`: two texts with the same shape can be mistaken for each other.

    >>> skeleton("Аpprоve\u200b ") == skeleton("approve")
    True
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.lower().encode().translate(_ASCII_SHAPES).decode().split())
    # Towers go first: normalising sorts the marks of each base, and a tower would make that take for ever.
    shape = _without_towers(text.translate(_BARE), _GONE).translate(_SHAPES)
    # Again after each step that may lead to another letter with a twin: mathematical letters normalise to plain
    # ones, small Cherokee folds to the capitals.
    shape = unicodedata.normalize("NFKD", shape).translate(_BARE).translate(_SHAPES)
    return " ".join(shape.casefold().translate(_SHAPES).split())
