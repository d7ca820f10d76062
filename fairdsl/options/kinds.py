"""The kinds of values that options take: how they are read, from text or from Python, and shown.

Each kind reads the text of a command line and Python's own values by one method, so both are checked alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from typing import Generic, Protocol, TypeVar

from fairdsl.source.numbers import read_number, read_whole

_Value = TypeVar("_Value", covariant=True)
_Member = TypeVar("_Member", bound=Enum)


class Kind(Protocol[_Value]):
    """A kind of value."""

    @property
    def metavar(self) -> str:
        """What stands for a value in usage lines."""

    @property
    def words(self) -> str:
        """What it is, in words that go on after "takes"."""

    @property
    def example(self) -> str:
        """One value."""

    @property
    def choices(self) -> tuple[str, ...]:
        """All values, where they are few."""

    def read(self, value: object) -> _Value:
        """The value that a text or a Python object stands for; ValueError for any other."""

    def show(self, value: object) -> str:
        """The value as it is written on the command line."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """What most kinds share."""

    @property
    def choices(self) -> tuple[str, ...]:
        """None are listed."""
        return ()

    def show(self, value: object) -> str:
        """As Python writes it."""
        return str(value)


@dataclass(frozen=True, slots=True)
class Switch(_Plain):
    """Yes or no."""

    metavar = "yes|no"
    words = "yes or no"
    example = "yes"

    @property
    def choices(self) -> tuple[str, ...]:
        """Both words."""
        return "yes", "no"

    def read(self, value: object) -> bool:
        """True and False are yes and no."""
        if isinstance(value, bool):
            return value
        return {"yes": True, "true": True, "no": False, "false": False}[_word(value)]

    def show(self, value: object) -> str:
        """The word."""
        return "yes" if value else "no"


@dataclass(frozen=True, slots=True)
class OneOf(Generic[_Member]):
    """A member of an enumeration, by its value."""

    members: type[_Member]

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of all members."""
        return tuple(str(member.value) for member in self.members)

    @property
    def metavar(self) -> str:
        """All of them."""
        return "|".join(self.choices)

    @property
    def words(self) -> str:
        """All of them, as a sentence goes on."""
        return _either(self.choices)

    @property
    def example(self) -> str:
        """The last one, which is seldom the default."""
        return self.choices[-1]

    def read(self, value: object) -> _Member:
        """The member itself, or its value."""
        return value if isinstance(value, self.members) else self.members(_word(value))

    def show(self, value: object) -> str:
        """Its value."""
        return str(value.value) if isinstance(value, Enum) else str(value)


@dataclass(frozen=True, slots=True)
class Whole(_Plain):
    """A whole number from ``least`` on."""

    least: int

    metavar = "N"

    @property
    def words(self) -> str:
        """With the range."""
        return f"a whole number from {self.least}"

    @property
    def example(self) -> str:
        """A number in the range."""
        return str(max(self.least, 1))

    def read(self, value: object) -> int:
        """The number."""
        if isinstance(value, bool) or not isinstance(value, str | Integral):
            raise ValueError(value)
        number = read_whole(value.strip()) if isinstance(value, str) else int(value)
        if number < self.least:
            raise ValueError(value)
        return number


@dataclass(frozen=True, slots=True)
class SizeOr(_Plain):
    """A whole number from 1 on, or a word."""

    word: str
    what: str

    metavar = "SIZE"
    example = "100"

    @property
    def words(self) -> str:
        """The number's meaning, or the word."""
        return f"{self.what} from 1, or `{self.word}`"

    def read(self, value: object) -> int | str:
        """The number, or the word."""
        return self.word if value == self.word else Whole(1).read(value)


@dataclass(frozen=True, slots=True)
class Seconds(_Plain):
    """A finite time above 0, in seconds."""

    metavar = "SECONDS"
    words = "a number of seconds above 0"
    example = "60"

    def read(self, value: object) -> float:
        """The seconds."""
        if isinstance(value, bool) or not isinstance(value, str | Real):
            raise ValueError(value)
        seconds = float(value)
        if not (isfinite(seconds) and seconds > 0):
            raise ValueError(value)
        return seconds

    def show(self, value: object) -> str:
        """Without digits that say nothing."""
        return f"{value:g}"


@dataclass(frozen=True, slots=True)
class Size(_Plain):
    """A size of memory in bytes: ``2GiB``, ``1.5GB``, ``500M`` (as MB), or a number of bytes."""

    least: int = 64 << 20

    metavar = "SIZE"
    example = "2GiB"

    @property
    def words(self) -> str:
        """With the least size."""
        return f"a size of at least {self.show(self.least)}"

    def read(self, value: object) -> int:
        """The bytes."""
        if isinstance(value, bool) or not isinstance(value, str | Integral):
            raise ValueError(value)
        size = _bytes_of(value) if isinstance(value, str) else int(value)
        if size < self.least:
            raise ValueError(value)
        return size

    def show(self, value: object) -> str:
        """In the largest unit that leaves a whole number."""
        assert isinstance(value, int)
        power = next((power for power in (4, 3, 2, 1) if value % 1024**power == 0), 0) if value else 0
        return f"{value >> 10 * power}{('', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B?", re.IGNORECASE)


def _bytes_of(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    number, prefix, binary = match.groups()
    return int(read_number(number) * (1024 if binary else 1000) ** " KMGT".index(prefix.upper() or " "))


@dataclass(frozen=True, slots=True)
class Share(_Plain):
    """A share of a whole, exact: ``1%``, ``0.01`` or ``1/100``; ``above`` and ``below`` bar the ends 0 and ``most``."""

    above: bool = False
    below: bool = False
    most: Fraction = Fraction(1)

    metavar = "SHARE"
    example = "1%"

    @property
    def words(self) -> str:
        """With the range."""
        low, high = "above" if self.above else "from", "and below" if self.below else "to"
        return f"a share {low} 0 {high} {self.show(self.most)}"

    def read(self, value: object) -> Fraction:
        """The exact fraction; a float is meant as it is written."""
        if isinstance(value, bool) or not isinstance(value, str | Real):
            raise ValueError(value)
        text = str(value).strip()
        share = read_number(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
        if not 0 <= share <= self.most or (self.above and not share) or (self.below and share == self.most):
            raise ValueError(value)
        return share

    def show(self, value: object) -> str:
        """In percent, where these have few digits."""
        assert isinstance(value, Fraction)
        percent = f"{float(100 * value):g}"
        return f"{percent}%" if Fraction(percent) == 100 * value else str(value)


@dataclass(frozen=True, slots=True)
class Text(_Plain):
    """A name or a path; ``what`` says of whom."""

    metavar: str
    what: str
    example: str

    @property
    def words(self) -> str:
        """What it names."""
        return self.what

    def read(self, value: object) -> str:
        """The text."""
        text = str(value) if hasattr(value, "__fspath__") else value
        if not isinstance(text, str) or not text:
            raise ValueError(value)
        return text


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return value.strip()


def _either(words: Iterable[str]) -> str:
    *others, last = (f"`{word}`" for word in words)
    return f"{', '.join(others)} or {last}"
