"""Rates of groups: the masses of a question's groups, and the metric that they come to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from heapq import nlargest, nsmallest
from itertools import chain, product
from typing import Any, NamedTuple

from fairdsl_verify import reject
from fairdsl_verify.bounds import Integers
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.classifiers import reduced
from fairdsl_verify.forest import Forest, Tree, trees_of
from fairdsl_verify.groups import COMPARES, Rate, RatesQuestion
from fairdsl_verify.margin import margin_of
from fairdsl_verify.masses import MOST_POSITIONS, MOST_STATES, Elimination, Formulas, Step
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import digits, exact, items, no_float, once
from fairdsl_verify.tree import Checked

#: A number, or several of which each counts: from the least to the greatest.
Number = tuple[Fraction, Fraction]


class Event(NamedTuple):
    """That a decision is favourable, as two formulas: for certain, and as far as is known."""

    certain: int
    possible: int


def event_of(question: RatesQuestion, formulas: Formulas, content: bytes) -> Event:
    """When the model's decision is favourable; ``content`` is the file's, none of a written model."""
    if question.rules is None:
        event = _scored(question, formulas, content)
    else:
        found = 0
        for condition, decision in reversed(question.rules):
            holds = formulas.of(condition)
            parts = [holds, found] if decision else [formulas.joined("not", [holds]), found]
            found = formulas.joined("or" if decision else "and", parts)
        event = Event(found, found)
    return event if question.favourable else _denied(event, formulas)


def _denied(event: Event, formulas: Formulas) -> Event:
    possible, certain = (formulas.joined("not", [each]) for each in event)
    return Event(certain, possible)


def _scored(question: RatesQuestion, formulas: Formulas, content: bytes) -> Event:
    """That the score is on the side of the threshold that is asked for, wherever within the margin it is."""
    net = net_of(question, content)
    tables: dict[int, Sequence[int]] = {}
    trees: Sequence[Tree] = ()
    if isinstance(net, Forest):
        constant, trees = net.start
    else:
        for place, attribute in enumerate(question.attributes):
            if net.idle[place]:
                continue
            if attribute.real or attribute.size > MOST_POSITIONS:
                reject(f"the model weighs `{attribute.name}`, which has too many values to list")
            tables[place] = [net.adds([0], [(place, at)])[0] for at in range(attribute.size)]
        constant = net.adds(net.origin, [(place, 0) for place in range(len(net.idle)) if net.idle[place]])[0]
    off = margin_of(question, net.rounding, net.scale)
    above = {by: formulas.sum(tables, constant + by, trees, zero=not net.zero_is_low) for by in (-off, off)}
    event = Event(above[-off], above[off])
    return event if net.upward else _denied(event, formulas)


def net_of(question: RatesQuestion, content: bytes) -> Integers | Forest:
    """The model's score less its threshold, of one that has one."""
    if question.kind == "onnx":
        graph = Graph(content)
        if trees_of(graph):
            return Forest(question, graph)
        asked, network = reduced(question, graph)
        if len(network.nodes) > 1:
            reject("the model has hidden units: this format has no proofs of their rates")
        return Integers(asked, network)
    width = len(question.reads)
    network = linear_of(content) if question.kind == "linear" else _affine([Fraction(1)] * width, Fraction(0))
    return Integers(question, network)


def _affine(weights: list[Fraction], bias: Fraction) -> Network:
    return Network([[Affine([weights], [bias])]], sigmoid=False)


def linear_of(content: bytes) -> Network:
    """A linear model of a JSON file: decimals are the numbers that are written."""

    def number(value: Any) -> Fraction:
        if type(value) is str:
            return exact(value, "a coefficient")
        if type(value) is not Fraction:
            reject("a coefficient is not a number")
        return Fraction(value)

    data = json.loads(
        content,
        parse_float=Fraction,
        parse_int=Fraction,
        parse_constant=no_float,
        object_pairs_hook=once,
    )
    known = {"coefficients", "coef_"}, {"intercept", "intercept_"}, {"features", "feature_names_in_"}
    if type(data) is not dict or not set(data) <= set().union(*known) or any(len(k & set(data)) > 1 for k in known):
        reject("the model's file has other keys than coefficients, intercept and features, or two of one kind")
    weights, bias = data.get("coefficients", data.get("coef_")), data.get("intercept", data.get("intercept_"))
    if type(weights) is list and len(weights) == 1 and type(weights[0]) is list:
        (weights,) = weights
    if type(bias) is list and len(bias) == 1:
        (bias,) = bias
    return _affine(
        [number(each) for each in items(weights, "`coefficients`")], number(Fraction(0) if bias is None else bias)
    )


@dataclass
class Cohort:
    """A group under a condition, as whole numbers of one scale; somebody may be decided either way.

    ``least`` and ``most`` are hits and misses where the part of hits is the least and the greatest; ``fewest`` and
    ``people`` how many are in it at least and at most.
    """

    least: tuple[int, int]
    most: tuple[int, int]
    fewest: int
    people: int
    group: tuple[int, ...] = ()

    @property
    def rate(self) -> Number:
        """The part of hits, where somebody is in it."""
        low, high = (Fraction(hits, hits + misses) for hits, misses in (self.least, self.most))
        return low, high


#: Masses of a key: of those who are decided unfavourably, either way, and favourably.
Mass = tuple[int, int, int]
#: The masses of all keys, by each event whose rates are asked for at a time.
Reading = Sequence[Mapping[tuple[int, ...], Mass]]


def cohort_of(group: tuple[int, ...], masses: Sequence[Mass], rate: Rate) -> Cohort:
    """A group under a condition, by its masses label by label.

    Whoever may be decided either way is counted as what is better for the rate: a hit before nobody, nobody before a
    miss. That is the greatest rate, for it grows with hits and falls with misses; the least is the opposite.
    """
    worth = dict.fromkeys(rate.hits, 1) | dict.fromkeys(rate.misses, -1)

    def counted(chosen: Callable[[tuple[int, int]], int]) -> tuple[int, int]:
        found = Counter[int]()
        for label, (denied, either, favoured) in enumerate(masses):
            sides = worth.get((label, False), 0), worth.get((label, True), 0)
            found.update({sides[0]: denied})
            found.update({sides[1]: favoured})
            found.update({chosen(sides): either})
        return found[1], found[-1]

    fewest, people = (sum(counted(partial(choose, key=abs))) for choose in (min, max))
    return Cohort(counted(min), counted(max), fewest, people, group)


def pooled(cohorts: Sequence[Cohort]) -> Cohort:
    """Several groups as one."""

    def added(end: str) -> tuple[int, int]:
        hits, misses = zip(*(getattr(each, end) for each in cohorts), strict=True)
        return sum(hits), sum(misses)

    people = sum(each.people for each in cohorts)
    return Cohort(added("least"), added("most"), sum(each.fewest for each in cohorts), people)


class Rates:
    """The masses of a question's groups, and the number that they come to."""

    def __init__(self, question: RatesQuestion, content: bytes) -> None:
        self.question, self.formulas = question, Formulas(question.attributes)
        #: When the model's decision is favourable; then, of an influence, when that of the one without it is.
        self.events = [event_of(each, self.formulas, content) for each in question.models()]
        self.among = self.formulas.joined("and", map(self.formulas.of, (question.where, question.given)))
        self.elimination = Elimination(question.law, self.formulas)
        #: The masses of keys, of each event.
        self.masses: list[dict[tuple[int, ...], Mass]] = []

    def follow(self, order: Sequence[Step]) -> None:
        """Find the masses, by this order; rejected where a distribution loses some."""
        everybody, scale = self.elimination.masses(1, 1, [], [(column, MOST_STATES) for column, _ in order])
        if everybody[()][1] != scale:
            reject("somebody comes to cells for which the distribution has no row")
        found = {event: self.counted(event, order) for event in dict.fromkeys(chain(*self.events))}
        self.masses = [
            {
                key: (more[0], less[0] - more[0], less[1])
                for (key, less), more in zip(found[certain].items(), found[possible].values(), strict=True)
            }
            for certain, possible in self.events
        ]

    def counted(
        self, event: int, order: Sequence[Step], sizes: list[int] | None = None
    ) -> dict[tuple[int, ...], list[int]]:
        """The masses of keys without and with an event; ``sizes`` as in :meth:`Elimination.masses`."""
        return self.elimination.masses(event, self.among, self.question.keys, order, sizes)[0]

    def number(self) -> Number | None:
        """The metric; None where it is not defined. Rejected where a group that counts has nobody."""
        # The influence on rates is a difference of each; on what is made of them, it is one of two numbers.
        readings = [self.masses] if self.question.compares == "every" else [[masses] for masses in self.masses]
        numbers = [number for reading in readings if (number := self._number(reading)) is not None]
        return _less(*numbers) if len(numbers) == len(readings) else None

    def _number(self, reading: Reading) -> Number | None:
        asked = self.question
        cells = [range(len(asked.law.cells[column])) for column in asked.strata]
        numbers = [self._of(stratum, reading) for stratum in product(*cells)]
        if any(found is not None and not found[0] for found in numbers):
            return None
        found = [number for each in numbers if each is not None for number in each[1]]
        return _folded(COMPARES[asked.compares], found) if found else None

    def _of(self, stratum: tuple[int, ...], reading: Reading) -> tuple[bool, list[Number]] | None:
        """Whether a stratum's number is defined, and the number; None where there is nothing to compare."""
        asked, undefined, parts = self.question, False, []
        least = 1 if asked.compares in ("every", "most", "least") else 2
        for rate in asked.rates:
            cohorts = list(self._cohorts(stratum, rate, reading))
            if asked.privileged is not None:
                sides = [
                    [each for each in cohorts if (each[0].group == asked.privileged) is own] for own in (False, True)
                ]
                cohorts = [tuple(map(pooled, zip(*side, strict=True))) for side in sides if side]
            undefined |= any(not each.fewest for both in cohorts for each in both)
            parts += [cohorts] if cohorts else []
        compared = [part for part in parts if len(part) >= least]
        if not compared or (asked.privileged is not None and len(compared) < len(parts)):
            return None
        if undefined:
            return False, []
        rates = [[_less(*(each.rate for each in both)) for both in part] for part in compared]
        known = [number for part in rates if (number := _compared(asked.compares, part)) is not None]
        return len(known) == len(rates), [_folded(asked.folds, known)] if known else []

    def _cohorts(self, stratum: tuple[int, ...], rate: Rate, reading: Reading) -> Iterator[tuple[Cohort, ...]]:
        """The groups of a stratum under a condition, by each of the masses, without those that are left out."""
        asked = self.question
        labels = range(1 if asked.label is None else len(asked.law.cells[asked.label]))
        counted = [label for label, _ in (*rate.hits, *rate.misses)]
        # Who meets the condition may be the model's to decide: then a group of somebody may have nobody who does.
        decided = any(counted.count(label) == 1 for label in labels)
        for group in product(*(range(len(asked.law.cells[column])) for column in asked.across)):
            at = dict(zip(asked.strata, stratum, strict=True)) | dict(zip(asked.across, group, strict=True))
            if any(at[column] != cell for column, cell in zip(asked.strata, stratum, strict=True)):
                continue  # a column may make groups and strata
            places = [tuple(at.get(column, label) for column in asked.keys) for label in labels]
            own, *others = (
                cohort_of(group, [masses[at] for at in places], rate) for masses in (self.masses[0], *reading)
            )
            if asked.excludes and (not own.people or (group, stratum) in asked.listed):
                continue
            if not (sum(sum(self.masses[0][at]) for at in places) if decided else own.people):
                reject(f"nobody is in the group of the cells {group}")
            yield tuple(others)

    def meets(self, number: Number) -> bool:
        """Whether each part of the number is as required."""
        limit, relation = self.question.limit, self.question.required
        ends = [end > limit if relation[0] == ">" else end < limit for end in number]
        return all(strict or (len(relation) == 2 and end == limit) for strict, end in zip(ends, number, strict=True))

    def misses(self, number: Number) -> bool:
        """Whether it is not as required, wherever it lies; of several numbers that is one of them."""
        ends = [not self.meets((end, end)) for end in number]
        return all(ends) if self.question.deployed else any(ends)

    def verdict(self, number: Number | None) -> str:
        """In words."""
        if number is None:
            return "UNDEFINED: there is no number"
        low, high = number
        text = f"{_decimal(low)}" if low == high else f"from {_decimal(low)} to {_decimal(high)}"
        said = f"{self.question.compares} of rates = {text}"
        if not self.question.required:
            return f"MEASURED: {said}"
        verdict = "HOLDS" if self.meets(number) else "VIOLATED" if self.misses(number) else "OPEN"
        return f"{verdict}: {said}, required {self.question.required} {self.question.limit}"


def _less(number: Number, *others: Number) -> Number:
    """The number, or the difference of two."""
    low, high = number
    for other in others:
        low, high = low - other[1], high - other[0]
    return low, high


def _compared(how: str, rates: list[Number]) -> Number | None:
    """One number of rates; of a signed one those of all others and of the privileged group. None: it is not defined."""
    lows, highs = zip(*rates, strict=True)
    if how == "gap":
        return max(Fraction(0), max(lows) - min(highs)), max(high - low for high, low in _opposite(rates))
    if how == "ratio":
        if not max(lows):
            return None
        least = min(Fraction(low, high) for high, low in _opposite(rates) if high)
        return least, min(Fraction(1), Fraction(min(highs), max(lows)))
    if how == "difference":
        return _less(*rates)
    if how == "quotient":
        return (Fraction(lows[0], highs[1]), Fraction(highs[0], lows[1])) if lows[1] else None
    return {"every": (min(lows), max(highs)), "most": (max(lows), max(highs)), "least": (min(lows), min(highs))}[how]


def _opposite(rates: list[Number]) -> list[Number]:
    """The greatest that a rate may be and the least that another one may, of all rates that may be at the ends."""
    places = range(len(rates))
    greatest = nlargest(2, places, key=lambda at: rates[at][1])
    least = nsmallest(2, places, key=lambda at: rates[at][0])
    return [(rates[one][1], rates[other][0]) for one in greatest for other in least if one != other]


def _folded(how: str, numbers: list[Number]) -> Number:
    """What several numbers come to."""
    lows, highs = ([number[end] for number in numbers] for end in (0, 1))
    if how == "greatest":
        return max(lows), max(highs)
    if how == "smallest":
        return min(lows), min(highs)
    if how == "mean":
        return sum(lows) * Fraction(1, len(lows)), sum(highs) * Fraction(1, len(highs))
    return min(lows), max(highs)


def _decimal(value: Fraction) -> str:
    """With six digits, rounded down; the number itself where it is short."""
    text = str(value)
    if len(text) <= 12:
        return text
    units = abs(value) * 10**6 // 1
    return f"{'-' if value < 0 else ''}{units // 10**6}.{units % 10**6:06d}..."


def order_of(lines: Iterator[str]) -> list[Step]:
    """The order of a proof: a line a column, with the states behind it."""
    order = []
    for line in lines:
        words = line.split(" ")
        if words[0] != "C" or len(words) != 3:
            reject(f"a line says {line!r}, which is no step")
        order.append((digits(words[1]), digits(words[2])))
    return order


def rates_of(data: Any, lines: Iterator[str], contents: Sequence[bytes]) -> Checked:
    """What a proof about rates comes to."""
    question = RatesQuestion(data)
    rates = Rates(question, b"" if question.kind == "written" else question.file_of(contents))
    rates.follow(order_of(lines))
    number, (low, high) = rates.number(), question.claimed
    follows = number is not None and low <= number[0] and number[1] <= high
    claims, margin = f"the number lies from {low} to {high}", question.margin if question.deployed else None
    return Checked(question, follows, claims, rates.verdict(number), number=number, margin=margin)
