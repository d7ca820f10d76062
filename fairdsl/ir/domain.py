"""Domains: the attributes of an individual, their value sets, and who can exist.

Source of the meaning: docs/semantics.md, section 1. A category's codes are labels, not numbers: they are
counted as sets, never as ranges. Booleans are false = 0, true = 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod

from fairdsl.codec import Exact
from fairdsl.ir.expr import Linear, Predicate, variables
from fairdsl.source import Span

_NOT_KNOWN = re.compile(r"unknown|missing|n_?/?a|nan|null|unspecified|undisclosed|not[ _](known|stated|given|reported)")
#: How the value of those who lack one is called, in specs, tables and reports.
MISSING = "missing"

#: An individual: one exact number per attribute, in the order of the domain.
Point = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryValue:
    """A value of a category and the code that models read for it."""

    #: What specs call it.
    name: str
    #: The number that models read for it.
    code: int
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A finite set of named values. Codes are distinct but need not be consecutive.

    ``coded``: the codes were written, and are not the positions.
    """

    #: Its values in their order.
    values: tuple[CategoryValue, ...]
    coded: bool = field(compare=False, default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """All integers from ``low`` to ``high``, both included."""

    #: The least one.
    low: int
    #: The greatest one.
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean:
    """``false`` (0) or ``true`` (1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """All reals from ``low`` to ``high``, both included; None where unbounded."""

    #: The least one; None without end.
    low: Exact | None = None
    #: The greatest one; None without end.
    high: Exact | None = None


Type = Category | Integer | Boolean | Real


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """``bins by quantiles 4``: so many bins with about as many rows each, found when data is read."""

    #: How many bins.
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelThresholds:
    """``bins by model``: cut where the model itself compares the attribute, found when it is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """A named column of the domain. ``column`` is its header in data files where that differs.

    ``as_stored``: a binary float of a file is the number itself, and not the shortest decimal that is read as it.
    ``bins`` are the inner edges of written bins; ``bins_by`` says how edges are found that are not written.
    ``present``: somebody may lack it, and this is what values there are; ``type`` then has one more, the code of those
    who have none (docs/semantics.md, missing values). To whoever compares, counts or bounds values it is one like any.
    """

    #: What the spec calls it.
    name: str
    #: Its values; where somebody may lack it, with the code of those who do.
    type: Type
    #: Its header in data files, where that is another one.
    column: str | None = None
    #: Whether binary floats of files are the numbers themselves.
    as_stored: bool = False
    #: The inner edges of written bins.
    bins: tuple[Fraction, ...] = ()
    #: How edges are found that are not written.
    bins_by: Quantiles | ModelThresholds | None = None
    #: The values that those have who do not lack it; None where nobody does.
    present: Type | None = None
    span: Span | None = field(compare=False, repr=False, default=None)

    @property
    def missing(self) -> Fraction | None:
        """The code of those who lack it; None where nobody does."""
        return None if self.present is None else self.bounds[1]

    @property
    def gap(self) -> bool:
        """Whether numbers lie between the values and the code of those who have none, which nobody has."""
        match self.present, self.type:
            case Integer(high=last), Integer(high=code):
                return code > last + 1
            case kind, _:
                return isinstance(kind, Real)

    @property
    def known(self) -> Attribute:
        """The attribute of those who have a value."""
        return self if self.present is None else replace(self, type=self.present, present=None)

    @property
    def size(self) -> int | None:
        """How many values there are; None for reals."""
        match self.type:
            case Category(values=values):
                return len(values)
            case Integer(low=low, high=high):
                return high - low + 1
            case Boolean():
                return 2
            case Real():
                return None

    @property
    def values(self) -> Sequence[int] | None:
        """All values as the numbers that models read, ascending for numbers; None for reals."""
        match self.type:
            case Category(values=values):
                return tuple(value.code for value in values)
            case Integer(low=low, high=high):
                return range(low, high + 1)
            case Boolean():
                return (0, 1)
            case Real():
                return None

    @property
    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        """The least and greatest number that stands for a value."""
        match self.type:
            case Category(values=values):
                codes = [value.code for value in values]
                return Fraction(min(codes)), Fraction(max(codes))
            case Integer(low=low, high=high):
                return Fraction(low), Fraction(high)
            case Boolean():
                return Fraction(0), Fraction(1)
            case Real(low=low, high=high):
                return low, high

    def contains(self, value: Fraction) -> bool:
        """Whether the number stands for a value of this attribute."""
        match self.type:
            case Category(values=values):
                return any(value == entry.code for entry in values)
            case Integer(low=low, high=high):
                return value.denominator == 1 and low <= value <= high
            case Boolean():
                return value in (0, 1)
            case Real(low=low, high=high):
                return (low is None or low <= value) and (high is None or value <= high)

    def show(self, value: Fraction) -> str:
        """The value in the spec's own words: a category's name, ``yes``-like booleans, a number, or ``missing``."""
        if value == self.missing:
            return MISSING
        match self.type:
            case Category(values=values):
                return next((entry.name for entry in values if entry.code == value), str(value))
            case Boolean():
                return "true" if value else "false"
            case Integer() | Real():
                return show_number(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """An attribute whose value follows from others, or from the model's score.

    ``of`` is the condition of a boolean, or the sum whose bins it is; None: the bins of the model's score. Both are
    over :attr:`~fairdsl.ir.expr.Who.EACH` and name attributes of the domain alone.
    """

    attribute: Attribute
    of: Predicate | Linear | None

    @property
    def name(self) -> str:
        """What the spec calls it."""
        return self.attribute.name

    @property
    def read(self) -> frozenset[int]:
        """The attributes that it is derived from; none where it is the model's score."""
        match self.of:
            case None:
                return frozenset()
            case Linear(terms=terms):
                return frozenset(variable.attribute for variable, _ in terms)
            case predicate:
                return frozenset(variable.attribute for variable in variables(predicate))


#: A decimal has at most so many places; beyond so many characters it may have so many digits, and three zeros before
#: them.
_PLACES, _SHORT, _DIGITS = 20, 12, 17


def says_unknown(value: str) -> bool:
    """Whether a value of a category says that nobody knows the value."""
    return _NOT_KNOWN.fullmatch(value.lower()) is not None


def show_number(value: Fraction) -> str:
    """A short exact decimal where there is one, as a spec would write it, else ``p/q``."""
    if value.denominator == 1:
        return str(value.numerator)
    for places in range(1, _PLACES + 1):
        units = abs(value) * 10**places
        if units.denominator == 1:
            whole, part = divmod(units.numerator, 10**places)
            text = f"{'-' if value < 0 else ''}{whole}.{part:0{places}d}"
            if len(text) <= _SHORT or (places <= len(str(units.numerator)) + 3 and units < 10**_DIGITS):
                return text
    return f"{value.numerator}/{value.denominator}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The product of the attributes' value sets, cut by ``where`` (a predicate over one individual).

    ``derived`` is what follows from the attributes, and is none of them.
    """

    name: str
    attributes: tuple[Attribute, ...]
    where: Predicate
    derived: tuple[Derived, ...] = ()
    span: Span | None = field(compare=False, repr=False, default=None)
    _places: Mapping[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # The first of a name counts: a second one has been reported.
        places = {self.attributes[place].name: place for place in reversed(range(len(self.attributes)))}
        object.__setattr__(self, "_places", places)

    def index(self, name: str) -> int:
        """Position of the attribute of that name; KeyError when there is none."""
        return self._places[name]

    def derivation(self, name: str) -> Derived | None:
        """What is derived by that name; None where nothing is."""
        return next((derived for derived in self.derived if derived.name == name), None)

    @property
    def size(self) -> int | None:
        """Number of points of the product, before ``where``; None with a real attribute."""
        sizes = [attribute.size for attribute in self.attributes]
        return None if None in sizes else prod(size for size in sizes if size is not None)

    def show(self, point: Point) -> dict[str, str]:
        """A point in the spec's words, by attribute name."""
        return {attribute.name: attribute.show(value) for attribute, value in zip(self.attributes, point, strict=True)}
