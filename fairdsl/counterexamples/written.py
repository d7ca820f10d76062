"""A pair, or a few, that somebody wrote down, held against every property about individuals: a complaint, or a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.data.cells import values_in_words
from fairdsl.elaborate import Elaborated, Function, elaborate
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import MISSING, Attribute, Boolean, Category, Domain, Point
from fairdsl.ir.expr import Who
from fairdsl.ir.question import Pair
from fairdsl.numerics.demand import FALSE, OPEN
from fairdsl.plan.choices import check_properties
from fairdsl.replay import Exactly, admissible, breach, outside_of, replay
from fairdsl.semantics import front_end
from fairdsl.source.names import value_text
from fairdsl.source.numbers import read_number
from fairdsl.verdict import Breach, Individual, Witness

_TRUTH = {"true": 1, "false": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedDemand:
    """What a pair means for one demand."""

    #: The property's name.
    name: str
    #: The line as the spec writes it.
    demand: str
    #: Of a formula about one individual, whom of those given it was held against: ``a``, ``b``, ``c`` or ``d``.
    individual: str | None = None
    #: Why the demand is not about this pair; None where it is.
    beside: str | None
    #: The pair, and what the model makes of it; None where nothing was run, and of formulas.
    pair: Witness | None = None
    #: Of a formula that the pair breaks: by what, and what each model makes of the two.
    breach: Breach | None = None
    #: Whether exact arithmetic leaves open what becomes of the two.
    undecided: bool = False

    @property
    def broken(self) -> bool:
        """Whether the pair breaks the demand, in every arithmetic."""
        if self.breach is not None:
            return self.breach.agrees
        return self.beside is None and self.pair is not None and self.pair.replay.agrees

    @property
    def open(self) -> bool:
        """Whether it stays open: in exact arithmetic, or since the deployed file does otherwise."""
        if self.breach is not None:
            return not self.breach.agrees
        if self.pair is None or self.undecided:
            return self.undecided
        return self.pair.replay.float32 is not None and self.pair.replay.float32 is not self.pair.replay.exact


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedPair(Document):
    """What a pair means for the demands of a spec."""

    SCHEMA: ClassVar[str] = "fairdsl.replayed/1"

    #: Every demand that is about pairs of individuals, and every formula about one of them, held against each alone.
    demands: tuple[ReplayedDemand, ...]

    @property
    def exit_code(self) -> int:
        """1 where a demand is broken, 3 where none is about the pair or the arithmetics disagree, else 0."""
        if any(demand.broken for demand in self.demands):
            return 1
        asked = [demand for demand in self.demands if demand.beside is None]
        return 0 if asked and not any(demand.open for demand in asked) else 3


def replay_written(
    path: str,
    a: Mapping[str, object],
    b: Mapping[str, object],
    *,
    properties: Sequence[str],
    models: Mapping[str, str],
    let: Mapping[str, str] | None = None,
    callables: Mapping[str, Function] | None,
    others: Sequence[Mapping[str, object]] = (),
) -> ReplayedPair:
    """The pair on every demand about pairs and individuals; what ``b`` does not name it has from ``a``.

    ``others`` are a third and a fourth, of demands about so many; what they do not name they have from ``a``, too. Of
    a demand about more than are given it is said that it is not about these.

    Raises DiagnosticError for mistakes in the spec and its files, ValueError for what is not an individual.
    """
    spec, _ = front_end(path, let)
    check_properties(properties, spec)
    spec = spec.restricted_to(properties)
    found: list[ReplayedDemand] = []
    for item in elaborate(spec, models, callables=callables, hold=False).demands:
        domain = item.problem.domain
        match item.problem.question:
            case Pair() as asked:
                first, second = _points(domain, "ab", (a, b))
                found.append(_held(item, asked, first, second))
            case Demanded(alone=True) as asked:
                each = zip("abcd", _points(domain, "abcd", (a, b, *others)), strict=False)
                found += [_judged(item, asked, {Who.EACH: point}, name) for name, point in each]
            case Demanded() as asked if len(asked.names) <= 2 + len(others):
                points = _points(domain, asked.names, (a, b, *others))
                found.append(_judged(item, asked, dict(zip(asked.people, points, strict=True))))
            case Demanded() as asked:
                beside = f"it is about {len(asked.names)} individuals: {', '.join(asked.names)}"
                found.append(ReplayedDemand(name=item.property.name, demand=item.demand.text, beside=beside))
    if not found:
        raise ValueError("no property is about individuals, so there is nothing to hold the pair against")
    return ReplayedPair(demands=tuple(found))


def _points(domain: Domain, names: Sequence[str], given: Sequence[Mapping[str, object]]) -> list[Point]:
    """As many as are named; what the others do not say is as of the first."""
    return [_point(domain, name, {**given[0], **values}) for name, values in zip(names, given, strict=False)]


def _held(item: Elaborated, asked: Pair, first: Point, second: Point) -> ReplayedDemand:
    """The pair on a demand for the same decision, or for close scores."""
    problem = item.problem
    people = (Individual.of(problem.domain, first), Individual.of(problem.domain, second))
    inside = _inside(problem.domain, (first, second))
    return ReplayedDemand(
        name=item.property.name,
        demand=item.demand.text,
        beside=admissible(asked, problem.domain, first, second, problem.model),
        pair=Witness(a=people[0], b=people[1], replay=replay(problem, first, second)) if inside else None,
        undecided=inside and OPEN in Exactly(problem).judge({Who.A: first, Who.B: second}),
    )


def _judged(
    item: Elaborated, asked: Demanded, people: Mapping[Who, Point], individual: str | None = None
) -> ReplayedDemand:
    """The pair, or one of it, on a formula; also whether its premise leaves them aside."""
    problem, exactly = item.problem, Exactly(item.problem)
    beside, broken, open_ = outside_of(problem, people), None, False
    if beside is None:
        broken = breach(problem, people, exactly)
        premise, formula = exactly.judge(people)
        if broken is None and premise == FALSE:
            beside = f"`{asked.premise_text}` is not true"
        open_ = broken is None and premise != FALSE and OPEN in (premise, formula)
    return ReplayedDemand(
        name=item.property.name,
        demand=item.demand.text,
        individual=individual,
        beside=beside,
        breach=broken,
        undecided=open_,
    )


def _inside(domain: Domain, points: Sequence[Point]) -> bool:
    return all(
        attribute.contains(value) for point in points for attribute, value in zip(domain.attributes, point, strict=True)
    )


def _point(domain: Domain, name: str, values: Mapping[str, object]) -> Point:
    """The individual with these values. ValueError says what is missing or what to write."""
    known = [attribute.name for attribute in domain.attributes]
    if strangers := [each for each in values if each not in known]:
        raise ValueError(f"`{strangers[0]}` is not an attribute of `{domain.name}`; there are {', '.join(known)}")
    if missing := [each for each in known if each not in values]:
        raise ValueError(f"{name} has no value for {', '.join(missing)}; write each as NAME=VALUE")
    return tuple(value_of(attribute, name, values[attribute.name]) for attribute in domain.attributes)


def value_of(attribute: Attribute, name: str, value: object) -> Fraction:
    """The number that stands for a value that somebody wrote down of ``name``; ValueError says what to write."""
    written = str(value).strip() if not isinstance(value, bool) else str(value).lower()
    if attribute.missing is not None and written in ("", MISSING):
        return attribute.missing
    match attribute.type:
        case Category(values=values):
            codes = {each.name: each.code for each in values}
            for text in (str(value), written):  # blanks around it mean nothing unless the name has them
                if text in codes:
                    return Fraction(codes[text])
            there = ", ".join(map(value_text, codes))
            raise ValueError(f"`{written}` is not a value of {name}.{attribute.name}; there are {there}")
        case Boolean():
            if written in _TRUTH:
                return Fraction(_TRUTH[written])
            raise ValueError(f"`{written}` is not a value of {name}.{attribute.name}; write true or false")
    try:
        number = Fraction(read_number(written))
    except ValueError:
        raise ValueError(f"`{written}` is not a value of {name}.{attribute.name}, which is a number") from None
    if attribute.missing is not None and not attribute.known.contains(number):
        # Beyond its range lies what stands for those who lack it, and nobody who writes a number means them.
        allowed = f"{values_in_words(attribute)}, or missing"
        raise ValueError(f"`{written}` is not a value of {name}.{attribute.name}: these are {allowed}")
    return number
