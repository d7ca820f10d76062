"""Texts of others inside a spec: names, quoted values, and comments that stay on their line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from fairdsl.source.names import is_name

#: What a condition of a model may take for something else than an attribute.
_MEANT_OTHERWISE = frozenset({"score", "probability", "class", "not", "over"})
#: Characters of a foreign text that a comment shows at most.
_SHOWN = 60


def names_for(headers: Sequence[str], taken_otherwise: Iterable[str] = ()) -> list[str]:
    """A name of the language for each header, no two alike: `hours-per-week` is `hours_per_week`, `score` `score_`.

    ``taken_otherwise``: names that the spec gives to something else.
    """
    meant = _MEANT_OTHERWISE.union(taken_otherwise)
    taken: set[str] = set()
    found = []
    for place, header in enumerate(headers, start=1):
        plain = unicodedata.normalize("NFKD", header).encode("ascii", "ignore").decode()
        word = re.sub(r"\W+", "_", plain).strip("_") or f"column_{place}"
        word = word if is_name(word) else f"column_{word}"
        word = f"{word}_" if word in meant else word
        name, number = word, 2
        while name in taken:
            name, number = f"{word}_{number}", number + 1
        taken.add(name)
        found.append(name)
    return found


def can_be_quoted(text: str) -> bool:
    """Whether a text can stand between double quotes, which have no escapes; cells have no blanks at their ends."""
    return '"' not in text and text.isprintable() and text == text.strip()


def quoted(text: str) -> str:
    """The text in double quotes."""
    return f'"{text}"'


def in_comment(text: str) -> str:
    """A foreign text in backticks, which neither ends the line nor steers the terminal."""
    if not text:
        return "empty"
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return f"`{shown[:_SHOWN]}...`" if len(shown) > _SHOWN else f"`{shown}`"


def listed(texts: Iterable[str], most: int = 4) -> str:
    """Some texts in a comment, and how many more there are."""
    every = list(texts)
    shown = ", ".join(map(in_comment, every[:most]))
    return shown if len(every) <= most else f"{shown} and {len(every) - most} more"
