"""The closed question: who exists, who is compared, what the model reads of them, and when it decides how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, NoReturn

from fairdsl_verify import reject, require

FORMAT = "fairdsl.proof/4"
#: The checker's own limits: more is rejected, not attempted.
MOST_ASSIGNMENTS, MOST_EVALUATED = 4096, 4096
#: Three-valued truth of a condition on a box.
NO, MAYBE, YES = 0, 1, 2


def whole(value: Any, what: str) -> int:
    """A whole number of the question."""
    require(type(value) is int, f"{what} is not a whole number")
    return int(value)


def digits(text: str) -> int:
    """A whole number of a line."""
    require(text.isascii() and text.isdigit() and len(text) <= 12, f"{text!r} is not a number of a line")
    return int(text)


def exact(value: Any, what: str) -> Fraction:
    """A number of the question: a whole one, or text `p/q`."""
    if type(value) is int or (type(value) is str and set(value) <= set("-/0123456789")):
        with suppress(ValueError, ZeroDivisionError):
            return Fraction(value)
    return reject(f"{what} is not an exact number")


def integral(value: Fraction) -> int:
    """A product that has to be whole: nothing is rounded."""
    require(value.denominator == 1, "a number is not whole that has to be")
    return value.numerator


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; which of two values of one key counts would depend on the reader."""
    require(len({key for key, _ in pairs}) == len(pairs), "a key stands there twice")
    return dict(pairs)


def no_float(text: str) -> NoReturn:
    """Numbers are whole, or text `p/q`."""
    reject(f"{text} is not an exact number")


def keys(found: Any, known: Sequence[str], what: str) -> dict[str, Any]:
    """An object with just these keys: one that nobody reads would be another question."""
    require(type(found) is dict and set(found) == set(known), f"{what} does not have just the keys {', '.join(known)}")
    return dict(found)


def items(found: Any, what: str) -> list[Any]:
    """A list."""
    require(type(found) is list, f"{what} is not a list")
    return list(found)


#: A box: for each attribute its first and last position; of a real attribute the ends of a run of cells.
Box = tuple[tuple[int, int], ...]
#: The range of a real attribute is cut into so many cells.
CELLS = 1 << 20


class Attribute:
    """An attribute and its values by position: ``start + position * step`` or, of a category, one by one."""

    def __init__(self, data: Any) -> None:
        kind = data.get("type") if type(data) is dict else None
        ends = ("values", "labels") if kind == "values" else ("low", "high")
        found = keys(data, ("name", "type", *ends), "an attribute")
        self.real, self.name = kind == "real", found["name"]
        self.values: list[Fraction] | None = None
        self.start, self.step = Fraction(0), Fraction(1)
        if kind == "values":
            self.values = [exact(value, "a value") for value in items(found["values"], "`values`")]
            labels, self.size = items(found["labels"], "`labels`"), len(self.values)
            if any(type(label) is not str for label in labels) or not len({*self.values}) == len(labels) == self.size:
                reject("a label is not text, there are not as many as values, or it has a value twice")
        else:
            self.start, high = exact(found["low"], "`low`"), exact(found["high"], "`high`")
            if kind not in ("integer", "real") or (kind == "integer" and (self.start % 1 or high % 1)):
                reject("an attribute is of no known type, or has ends that are not whole")
            self.step = (high - self.start) * Fraction(1, CELLS) if self.real else self.step
            self.size = CELLS + 1 if self.real else int(high - self.start) + 1
        require(self.size >= 1 and self.step > 0, "an attribute has no values, or a real one of them")
        require(type(self.name) is str and self.name.isidentifier(), "an attribute's name is not one word")

    def named(self, name: str) -> Attribute:
        """The same by another name."""
        other = copy(self)
        other.name = name
        return other

    def measure(self, ends: tuple[int, int]) -> int:
        """How many values lie there; of reals, how many cells."""
        return ends[1] - ends[0] + (not self.real)

    def value(self, position: int) -> Fraction:
        """The value at a position."""
        return self.start + self.step * position if self.values is None else self.values[position]

    def position(self, value: Fraction) -> Fraction:
        """Where a value stands; of one that the attribute does not have -1, or no whole number."""
        if self.values is None:
            return (value - self.start) / self.step
        return Fraction(self.values.index(value) if value in self.values else -1)

    def range(self, ends: tuple[int, int]) -> tuple[Fraction, Fraction]:
        """The least and the greatest value there."""
        values = list(map(self.value, ends if self.values is None else range(ends[0], ends[1] + 1)))
        return min(values), max(values)


class Condition:
    """A condition on one individual: three-valued on a box."""

    def __init__(self, data: Any, attributes: Sequence[Attribute]) -> None:
        self.op, *rest = items(data, "a condition") or [None]
        self.parts: list[Condition] = []
        self.attributes = attributes
        if self.op in ("and", "or"):
            self.parts = [Condition(part, attributes) for part in rest]
        elif self.op in ("<", "<=") and len(rest) == 2:
            terms = [items(term, "a term") for term in items(rest[0], "the terms")]
            self.terms = [(place_of(term, attributes), exact(term[-1], "a factor")) for term in terms]
            self.constant = exact(rest[1], "a constant")
        elif self.op == "in" and len(rest) == 2:
            self.place = place_of(rest, attributes)
            attribute = attributes[self.place]
            self.values = {exact(value, "a value") for value in items(rest[1], "the values")}
            found = map(attribute.position, self.values)
            self.positions = [at for at in found if attribute.real or at.denominator == 1]
        else:
            reject("a condition is of no known kind")

    def truth(self, box: Sequence[tuple[int, int]]) -> int:
        """Whether it holds for all (YES), for none (NO), or possibly for some individuals of the box."""
        if self.op == "and":
            return min((part.truth(box) for part in self.parts), default=YES)
        if self.op == "or":
            return max((part.truth(box) for part in self.parts), default=NO)
        if self.op == "in":
            first, last = box[self.place]
            inside = sum(first <= at <= last for at in self.positions)
            everybody = not self.attributes[self.place].real and inside == last - first + 1
            return NO if not inside else YES if everybody else MAYBE
        low = high = self.constant
        for place, factor in self.terms:
            ends = self.attributes[place].range(box[place])
            low += factor * ends[factor < 0]
            high += factor * ends[factor > 0]
        return side_of(-high, -low, zero_is_low=self.op == "<")


def place_of(term: list[Any], attributes: Sequence[Attribute]) -> int:
    """Which attribute a pair begins with, by its name."""
    names = [attribute.name for attribute in attributes]
    require(len(term) == 2 and type(term[0]) is str and term[0] in names, "said of an attribute that there is not")
    return names.index(term[0])


def places_of(names: Any, attributes: Sequence[Attribute]) -> list[int]:
    """Which attributes are listed, each once."""
    places = [place_of([name, None], attributes) for name in items(names, "attributes")]
    require(len(set(places)) == len(places), "an attribute is listed twice")
    return places


def side_of(low: Fraction | int, high: Fraction | int, margin: int = 0, *, zero_is_low: bool) -> int:
    """Of scores less their threshold in [low, high], each off by up to the margin: all are above, none is, or MAYBE."""
    if low > margin or (low == margin and not zero_is_low):
        return YES
    return NO if high < -margin or (high == -margin and zero_is_low) else MAYBE


class Column:
    """A column of the model's input: a constant, and what attributes add to it, by a factor or position by position."""

    def __init__(self, data: Any, attributes: Sequence[Attribute]) -> None:
        found = keys(data, ("constant", "terms"), "a column")
        self.constant = exact(found["constant"], "a column's constant")
        self._attributes, self.factors = attributes, dict[int, Fraction]()
        self.tables: dict[int, list[Fraction]] = {}
        for item in items(found["terms"], "`terms`"):
            place = place_of(items(item, "a term"), attributes)
            listed, attribute = type(item[1]) is list, attributes[place]
            if place in (*self.factors, *self.tables) or (attribute.real and listed):
                reject("a column has two terms of one attribute, or a table of a real one")
            if not listed and attribute.values is None:
                self.factors[place] = exact(item[1], "a factor")
                continue
            self.tables[place] = [exact(entry, "an entry") for entry in items(item[1], "what a category adds")]
            require(len(self.tables[place]) == attribute.size, "a column has a table without an entry for each value")

    def adds(self, place: int, position: int) -> Fraction:
        """What an attribute adds at a position."""
        if place in self.tables:
            return self.tables[place][position]
        return self.factors[place] * self._attributes[place].value(position) if place in self.factors else Fraction(0)

    def of(self, point: Sequence[int]) -> Fraction:
        """The number that it has of somebody, given by positions."""
        return sum((self.adds(place, point[place]) for place in (*self.factors, *self.tables)), self.constant)


class Model:
    """Who there is, what the model reads of them, and when it decides how: what all questions say."""

    #: Whether it is about float32 as well, and how far off a score may be.
    deployed, margin = False, Fraction(0)

    def __init__(self, found: dict[str, Any]) -> None:
        self.attributes = [Attribute(item) for item in items(found["attributes"], "`attributes`")]
        require(len({each.name for each in self.attributes}) == len(self.attributes), "two attributes have one name")
        #: Places of attributes that differ and of all others, and assignments of the first, by positions.
        self.differ = places_of(found.get("differ", []), self.attributes)
        self.shared = [place for place in range(len(self.attributes)) if place not in self.differ]
        sizes = [self.attributes[place].size for place in self.differ]
        if prod(sizes) > MOST_ASSIGNMENTS or any(self.attributes[place].real for place in self.differ):
            reject("what differs has too many values together, or a real attribute does")
        self.assignments = list(product(*map(range, sizes)))
        decides = keys(found["decides"], ("of", "relation", "threshold"), "`decides`")
        #: What a score or a probability is compared with, or the label, a whole number or text, that is asked for.
        self.of, self.relation, self.threshold = decides["of"], decides["relation"], decides["threshold"]
        relations = {"label": ("=",), **dict.fromkeys(("score", "probability"), ("<", "<=", ">", ">="))}
        require(self.relation in relations.get(self.of, ()), "`decides` is of no known kind, or by no known relation")
        if self.of != "label":
            self.threshold = exact(self.threshold, "the threshold")
        elif type(self.threshold) not in (int, str):
            reject("a label is neither a whole number nor text")
        require(self.of != "probability" or self.threshold == Fraction(1, 2), "a probability is not compared with 1/2")
        self.reads = [Column(item, self.attributes) for item in items(found["reads"], "`reads`")]
        self.sha256, self.said = str(found["model"]), {key: found[key] for key in found if key != "claims"}
        said = json.dumps(self.said, sort_keys=True, separators=(",", ":")).encode()
        self.digest = hashlib.sha256(said).hexdigest()

    def file_of(self, contents: Sequence[bytes]) -> bytes:
        """The model's file, of those that were given."""
        digests = [hashlib.sha256(content).hexdigest() for content in contents]
        if self.sha256 not in digests:
            reject(f"the proof is about another model: sha256 {self.sha256}, not {', '.join(digests) or 'none'}")
        return contents[digests.index(self.sha256)]

    def words(self) -> Iterator[str]:
        """The question as it is printed: word for word what it says, a line an item."""
        yield f"question {self.digest}"
        for key, value in self.said.items():
            for each in value if type(value) is list and key in ("attributes", "reads") else [value]:
                yield f"{key} {json.dumps(each)}"


class Question(Model):
    """All that a proof about pairs is about."""

    #: Whether it is about individuals and not units, what shares are of, and whether a condition links two in a unit.
    loose, units, linked = False, "units", False

    def __init__(self, data: Any) -> None:
        known = ("format", "property", "model", "attributes", "reads", "decides", "differ", "mode", "where", "target")
        found = keys(data, (*known, "relax", "pair", "asks", "arithmetic", "claims"), "the question")
        super().__init__(found)
        choices = {"mode": ("any", "each"), "arithmetic": ("real", "float32"), "asks": ("holds", "share")}
        for key, allowed in {"format": (FORMAT,), **choices}.items():
            require(found[key] in allowed, f"`{key}` is {found[key]!r}, and not {' or '.join(allowed)}")
        self.each, self.asks, self.deployed = found["mode"] == "each", found["asks"], found["arithmetic"] == "float32"
        self.where, self.target = (Condition(found[key], self.attributes) for key in ("where", "target"))
        require(self.loose or (found["relax"] == [] and found["pair"] == ["and"]), "the question is a relaxed one")
        claims = keys(found["claims"], ("certified", "falsified", "holds", "compared", "margin"), "`claims`")
        shares = ("certified", "falsified", "margin")
        self.certified, self.falsified, self.margin = (exact(claims[key], f"`{key}`") for key in shares)
        self.holds = claims["holds"]
        require(type(self.holds) is bool, "`holds` is not a truth value")
        two = items(claims["compared"], "`compared`")
        #: Two individuals, by positions, who are said to be compared.
        self.compared = [[whole(at, "a position") for at in items(one, "one of two")] for one in two]

    def words(self) -> Iterator[str]:
        """The question as it is printed, and what it means."""
        yield from super().words()
        real = any(attribute.real for attribute in self.attributes)
        yield f"meaning two who meet `where` and `target` and differ in {'each' if self.each else 'any'} of `differ`"
        yield f"meaning are on one side of `decides`; shares are of {self.units}, by {'volume' if real else 'counting'}"
        if self.deployed:
            yield f"meaning also in float32, where a score may be off by {self.margin}"
