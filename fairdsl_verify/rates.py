"""Rates of groups: the masses of a question's groups, and the metric that they come to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.bounds import Integers
from fairdsl_verify.chain import Affine, Network, network_of
from fairdsl_verify.forest import Forest
from fairdsl_verify.groups import COMPARES, Rate, RatesQuestion
from fairdsl_verify.masses import MOST_POSITIONS, MOST_STATES, Elimination, Formulas, Step
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import digits, exact, items, no_float, once
from fairdsl_verify.tree import Checked

#: A number, or several of which each counts: from the least to the greatest.
Number = tuple[Fraction, Fraction]


def event_of(question: RatesQuestion, formulas: Formulas, content: bytes) -> int:
    """Whether the model's decision is favourable, as a formula; ``content`` is the file's, none of a written model."""
    if question.rules is not None:
        event = 0
        for condition, decision in reversed(question.rules):
            holds = formulas.of(condition)
            parts = [holds, event] if decision else [formulas.joined("not", [holds]), event]
            event = formulas.joined("or" if decision else "and", parts)
    else:
        event = _scored(question, formulas, content)
    return event if question.favourable else formulas.joined("not", [event])


def _scored(question: RatesQuestion, formulas: Formulas, content: bytes) -> int:
    if question.kind == "onnx":
        graph = Graph(content)
        if any(node.domain == "ai.onnx.ml" for node in graph.nodes):
            forest = Forest(question, graph)
            constant, trees = forest.start
            above = formulas.sum({}, constant, trees, zero=not forest.zero_is_low)
            return above if forest.upward else formulas.joined("not", [above])
        network = network_of(graph, len(question.reads))
        if len(network.nodes) > 1:
            reject("the model has hidden units: this format has no proofs of their rates")
    else:
        width = len(question.reads)
        network = linear_of(content) if question.kind == "linear" else _affine([Fraction(1)] * width, Fraction(0))
    net = Integers(question, network)
    tables = {}
    for place, attribute in enumerate(question.attributes):
        if net.idle[place]:
            continue
        if attribute.real or attribute.size > MOST_POSITIONS:
            reject(f"the model weighs `{attribute.name}`, which has too many values to list")
        tables[place] = [net.adds([0], [(place, at)])[0] for at in range(attribute.size)]
    constant = net.adds(net.origin, [(place, 0) for place in range(len(net.idle)) if net.idle[place]])[0]
    above = formulas.sum(tables, constant, (), zero=not net.zero_is_low)
    return above if net.upward else formulas.joined("not", [above])


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
    """A group under a condition: its hits and misses, as whole numbers of one scale."""

    group: tuple[int, ...]
    hits: int
    misses: int

    @property
    def mass(self) -> int:
        """How many are in it."""
        return self.hits + self.misses

    @property
    def rate(self) -> Fraction:
        """The part of hits."""
        return Fraction(self.hits, self.mass)


class Rates:
    """The masses of a question's groups, and the number that they come to."""

    def __init__(self, question: RatesQuestion, content: bytes) -> None:
        self.question, self.formulas = question, Formulas(question.attributes)
        self.event = event_of(question, self.formulas, content)
        self.among = self.formulas.joined("and", map(self.formulas.of, (question.where, question.given)))
        self.elimination = Elimination(question.law, self.formulas)
        #: The masses of keys, of those who are not favoured and of those who are.
        self.masses: dict[tuple[int, ...], list[int]] = {}

    def follow(self, order: Sequence[Step]) -> None:
        """Find the masses, by this order; rejected where a distribution loses some."""
        everybody, scale = self.elimination.masses(1, 1, [], [(column, MOST_STATES) for column, _ in order])
        if everybody[()][1] != scale:
            reject("somebody comes to cells for which the distribution has no row")
        self.masses, _ = self.elimination.masses(self.event, self.among, self.question.keys, order)

    def number(self) -> Number | None:
        """The metric; None where it is not defined. Rejected where a group that counts has nobody."""
        asked = self.question
        cells = [range(len(asked.law.cells[column])) for column in asked.strata]
        numbers = [self._of(stratum) for stratum in product(*cells)]
        if any(found is not None and not found[0] for found in numbers):
            return None
        found = [number for each in numbers if each is not None for number in each[1]]
        return _folded(COMPARES[asked.compares], found) if found else None

    def _of(self, stratum: tuple[int, ...]) -> tuple[bool, list[Number]] | None:
        """Whether a stratum's number is defined, and the number; None where there is nothing to compare."""
        asked, undefined, parts = self.question, False, []
        least = 1 if asked.compares in ("every", "most", "least") else 2
        for rate in asked.rates:
            cohorts = list(self._cohorts(stratum, rate))
            if asked.privileged is not None:
                sides = [[each for each in cohorts if (each.group == asked.privileged) is own] for own in (False, True)]
                cohorts = [
                    Cohort((), sum(each.hits for each in side), sum(each.misses for each in side))
                    for side in sides
                    if side
                ]
            undefined |= any(not each.mass for each in cohorts)
            parts += [cohorts] if cohorts else []
        compared = [part for part in parts if len(part) >= least]
        if not compared or (asked.privileged is not None and len(compared) < len(parts)):
            return None
        if undefined:
            return False, []
        numbers = [_compared(asked.compares, [cohort.rate for cohort in part]) for part in compared]
        known = [number for number in numbers if number is not None]
        return len(known) == len(numbers), [_folded(asked.folds, known)] if known else []

    def _cohorts(self, stratum: tuple[int, ...], rate: Rate) -> Iterator[Cohort]:
        """The groups of a stratum under a condition, without those that are left out."""
        asked = self.question
        labels = range(1 if asked.label is None else len(asked.law.cells[asked.label]))
        counted = [label for label, _ in (*rate.hits, *rate.misses)]
        # Who meets the condition may be the model's to decide: then a group of somebody may have nobody who does.
        decided = any(counted.count(label) == 1 for label in labels)
        for group in product(*(range(len(asked.law.cells[column])) for column in asked.across)):
            at = dict(zip(asked.strata, stratum, strict=True)) | dict(zip(asked.across, group, strict=True))
            if any(at[column] != cell for column, cell in zip(asked.strata, stratum, strict=True)):
                continue  # a column may make groups and strata
            places = (tuple(at.get(column, label) for column in asked.keys) for label in labels)
            masses = [self.masses[place] for place in places]
            hits, misses = (sum(masses[label][side] for label, side in part) for part in (rate.hits, rate.misses))
            if asked.excludes and (not hits + misses or (group, stratum) in asked.listed):
                continue
            if not (sum(map(sum, masses)) if decided else hits + misses):
                reject(f"nobody is in the group of the cells {group}")
            yield Cohort(group, hits, misses)

    def meets(self, number: Number) -> bool:
        """Whether each part of the number is as required."""
        limit, relation = self.question.limit, self.question.required
        ends = [end > limit if relation[0] == ">" else end < limit for end in number]
        return all(strict or (len(relation) == 2 and end == limit) for strict, end in zip(ends, number, strict=True))

    def verdict(self, number: Number | None) -> str:
        """In words."""
        if number is None:
            return "UNDEFINED: there is no number"
        low, high = number
        text = f"{_decimal(low)}" if low == high else f"from {_decimal(low)} to {_decimal(high)}"
        said = f"{self.question.compares} of rates = {text}"
        if not self.question.required:
            return f"MEASURED: {said}"
        verdict = "HOLDS" if self.meets(number) else "VIOLATED"
        return f"{verdict}: {said}, required {self.question.required} {self.question.limit}"


def _compared(how: str, rates: list[Fraction]) -> Number | None:
    """One number of rates; of a signed one those of all others and of the privileged group. None: it is not defined."""
    low, high = min(rates), max(rates)
    if how == "gap":
        return high - low, high - low
    if how == "ratio":
        return None if not high else (Fraction(low, high), Fraction(low, high))
    if how == "difference":
        return rates[0] - rates[1], rates[0] - rates[1]
    if how == "quotient":
        return None if not rates[1] else (Fraction(rates[0], rates[1]), Fraction(rates[0], rates[1]))
    return {"every": (low, high), "most": (high, high), "least": (low, low)}[how]


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
    claims = f"the number lies from {low} to {high}"
    return Checked(question, follows, claims, rates.verdict(number), number=number)
