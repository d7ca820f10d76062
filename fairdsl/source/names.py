"""What is a name of the language, how a value that is none is written, and which are one in another spelling."""

from __future__ import annotations

import re
from unicodedata import normalize

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def is_name(text: str) -> bool:
    """Whether it is letters, digits and underscores, and begins with no digit."""
    return _NAME.fullmatch(text) is not None


def value_text(text: str) -> str:
    """A value of a category, or a label, as a spec writes it: a name, or in quotes."""
    return text if is_name(text) else f'"{text}"'


def unspelled(text: str) -> str:
    """The same for texts that differ in capitals, in blanks around them, or in how their letters are composed."""
    return normalize("NFKC", text).strip().casefold()
