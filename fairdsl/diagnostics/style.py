"""Text on a terminal: colours, columns, wrapping. Shared by the renderers of diagnostics and reports.

A spec may come from a stranger, so nothing of it reaches the terminal unfiltered: control characters
(escape sequences among them) and the marks that reverse the direction of writing are shown, not obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from unicodedata import category, combining, east_asian_width

_TAB = "    "

#: Typographic characters that our own messages use, for terminals without Unicode.
_PLAIN = str.maketrans(
    {
        "\N{EM DASH}": "-",
        "\N{EN DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{MIDDLE DOT}": "-",
        "\N{LESS-THAN OR EQUAL TO}": "<=",
        "\N{GREATER-THAN OR EQUAL TO}": ">=",
        "\N{NOT EQUAL TO}": "!=",
        "\N{FOR ALL}": "for all ",
        "\N{LOGICAL AND}": "and",
        "\N{LOGICAL OR}": "or",
        "\N{NOT SIGN}": "not ",
        "\N{RIGHTWARDS ARROW}": "->",
        "\N{RIGHTWARDS DOUBLE ARROW}": "=>",
        "\N{ELEMENT OF}": "in",
        "\N{GREEK SMALL LETTER EPSILON}": "epsilon",
    }
)


class Paint(Enum):
    """What a piece of text is, and the terminal's codes for it."""

    PLAIN = ""
    BOLD = "1"
    FAINT = "2"
    ERROR = "1;31"
    WARNING = "1;33"
    GUTTER = "1;34"
    SECONDARY = "34"
    GOOD = "1;32"
    NUMBER = "1;36"
    REFUSED = "1;35"


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: with colours or not, in Unicode or ASCII, and how many columns there are."""

    colour: bool = False
    unicode: bool = True
    width: int = 100

    def paint(self, text: str, paint: Paint) -> str:
        """The text in its colour."""
        if not self.colour or paint is Paint.PLAIN or not text:
            return text
        return f"\x1b[{paint.value}m{text}\x1b[0m"

    def shown(self, text: str) -> str:
        """The text as it can be written here."""
        return shown(text, unicode=self.unicode)


def _shown_character(character: str, unicode: bool) -> str:
    if character == "\t":
        return _TAB
    if category(character) in {"Cc", "Cf", "Zl", "Zp", "Cs"}:
        return f"<{ord(character):02X}>"
    if unicode or character.isascii():
        return character
    return character.encode("ascii", "backslashreplace").decode("ascii")


def shown(text: str, *, unicode: bool = True) -> str:
    """The text with tabs as four spaces and nothing in it that a terminal would obey."""
    if text.isascii() and text.isprintable():
        return text
    if not unicode:
        text = text.translate(_PLAIN)
    return "".join(_shown_character(character, unicode) for character in text)


def columns(text: str) -> list[str]:
    """What stands in each column: wide characters fill two, combining ones join their neighbour."""
    filled: list[str] = []
    for character in text:
        if combining(character) and filled:
            filled[-1] += character
        else:
            filled.append(character)
            if east_asian_width(character) in {"W", "F"}:
                filled.append("")
    return filled


def display_width(text: str) -> int:
    """How many columns the text fills."""
    return len(text) if text.isascii() else len(columns(text))


def wrap(text: str, width: int, *, indent: str = "") -> Iterator[str]:
    """Lines of at most ``width`` columns, broken at spaces; later lines begin with ``indent``.

    Runs of spaces are kept, so a note may align its words. What stands in backticks is broken only where
    nothing else helps, and a word longer than a line not at all.
    """
    for paragraph in text.split("\n"):
        line = paragraph
        while display_width(line) > width:
            at = _break(line, _characters_within(line, width))
            if at is None:
                break
            yield line[:at].rstrip(" ")
            line = indent + line[at:].lstrip(" ")
        yield line


def _break(line: str, limit: int) -> int | None:
    """The space to break at: the last within the limit, outside backticks if possible, else the next."""
    begin = len(line) - len(line.lstrip(" "))
    spaces = [at for at in range(begin, min(limit + 1, len(line))) if line[at] == " "]
    outside = [at for at in spaces if line.count("`", 0, at) % 2 == 0]
    if spaces:
        return (outside or spaces)[-1]
    following = line.find(" ", max(limit, begin))
    return None if following < 0 else following


def _characters_within(line: str, width: int) -> int:
    """How many characters of the line fit into the columns."""
    if line.isascii():
        return width
    filled = 0
    for count, character in enumerate(line):
        filled += display_width(character) if not combining(character) else 0
        if filled > width:
            return count
    return len(line)
