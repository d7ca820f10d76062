"""The definitions of docs/semantics.md (sections 1 to 3), written down naively in exact fractions.

Sigmoid and tanh have no rational values: theirs are fractions within 2**-450, and numbers that are nearer
than 2**-300 count as equal. No small problem has others that are.

Shares no code with any engine: it reads the data classes of the IR and nothing else. It is what the engines are
compared with. Everybody is listed and every pair is looked at; of many at once a value is a column of Python's
integers and fractions, one entry each, and what is written below of one value holds of every entry. Whole numbers are
an `int` and sums are taken over a common denominator: equal to the fractions, and much faster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, reduce
from itertools import compress, product
from math import isqrt, lcm, log
from operator import and_, or_

import numpy as np

from fairdsl.ir.domain import Boolean, Category, Domain, Integer, Point
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, Relation, Who
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Curve, Model
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, SameDecision, ScoreGap

#: Numbers or truths of many individuals, one entry each.
Column = np.ndarray
Value = Fraction | int | Column
Truths = bool | Column

RELATIONS = {
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


@dataclass
class Truth:
    """Everything that the definitions say about a problem."""

    violations: list[tuple[Point, Point]]
    #: Units in question: those with an admissible pair; how many of them are fair; and how many units have none.
    total: int
    fair: int
    vacuous: int
    individuals: list[Point] = field(default_factory=list)
    #: The individuals of unfair units, and of all units in question.
    unfair: frozenset[Point] = frozenset()
    asked: frozenset[Point] = frozenset()

    @property
    def holds(self) -> bool:
        return not self.violations

    @property
    def fair_share(self) -> Fraction:
        return Fraction(self.fair, self.total)


def values_of(attribute_type: object) -> list[Fraction]:
    match attribute_type:
        case Category(values=values):
            return [Fraction(value.code) for value in values]
        case Integer(low=low, high=high):
            return [Fraction(value) for value in range(low, high + 1)]
        case Boolean():
            return [Fraction(0), Fraction(1)]
    raise TypeError("the oracle enumerates finite domains")


def whole(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """The numbers as integers over one positive denominator."""
    over = lcm(*{number.denominator for number in numbers})
    return [number.numerator * (over // number.denominator) for number in numbers], over


def columns_of(points: Sequence[Point]) -> Column:
    """A column for every attribute."""
    return np.array(points, dtype=object).T


def true_for(predicate: Predicate, individuals: Mapping[Who, Sequence[Value]]) -> Truths:
    """Whether it is true for individuals, or for every entry of columns of them."""
    match predicate:
        case Compare(left=left, relation=relation):
            (value, *factors), _ = whole([left.constant, *(factor for _, factor in left.terms)])
            for (variable, _), factor in zip(left.terms, factors, strict=True):
                value = value + factor * individuals[variable.who][variable.attribute]
            return RELATIONS[relation.value](value, 0)
        case Member(variable=variable, values=values):
            value = individuals[variable.who][variable.attribute]
            if isinstance(value, np.ndarray):
                return np.array([entry in values for entry in value], dtype=bool)
            return value in values
        case And(parts):
            return reduce(and_, (true_for(part, individuals) for part in parts), True)
        case Or(parts):
            return reduce(or_, (true_for(part, individuals) for part in parts), False)
        case Not(part):
            return true_for(part, individuals) ^ True


def those_for_whom(predicate: Predicate, points: Sequence[Point], who: Who = Who.EACH) -> list[Point]:
    found = np.broadcast_to(true_for(predicate, {who: columns_of(points)}), len(points))
    return list(compress(points, found))


@cache
def exponential(x: Fraction) -> Fraction:
    """By the series at x / 2**n, squared n times, in integers over 2**600; negative numbers by their inverse."""
    if x < 0:
        return 1 / exponential(-x)
    doublings = 8 + int(x).bit_length()
    small, term, total = round(x * 2 ** (600 - doublings)), 2**600, 2**600
    for n in range(1, 70):
        term = term * small // (n * 2**600)
        total += term
    for _ in range(doublings):
        total = total * total // 2**600
    return Fraction(total, 2**600)


def logarithm(x: Fraction) -> Fraction:
    """Of a number above 0, by Halley's iteration from the float."""
    found = Fraction(log(x))
    for _ in range(3):  # 50 digits of 2 at first, and three times as many each time
        power = exponential(found)
        found = rounded(found + 2 * (x - power) / (x + power), 600)
    return found


def error_function(z: Fraction) -> Fraction:
    """By its alternating series in integers, which loses as many binary digits as exp(z^2) has."""
    if abs(z) >= 25:
        return Fraction(1 if z > 0 else -1)  # but for less than 2**-900
    places = 640 + int(3 * z * z)
    point = round(z * 2**places)
    square = point * point >> places
    power, total, n = point, point, 1
    while power and power != -1:
        power = -(power * square >> places) // n
        total += power // (2 * n + 1)
        n += 1
    return rounded(Fraction(2 * total, 2**places) / ROOT_OF_PI, 600)


def root_of_pi() -> Fraction:
    """By Machin's formula over 2**1200."""
    pi = sum(
        factor * sum(Fraction((-1) ** k, (2 * k + 1) * base ** (2 * k + 1)) for k in range(terms))
        for factor, base, terms in ((16, 5, 260), (-4, 239, 80))
    )
    return Fraction(isqrt(int(pi * 4**700)), 2**700)


ROOT_OF_PI = root_of_pi()


def rounded(x: Fraction, places: int) -> Fraction:
    return Fraction(round(x * 2**places), 2**places)


@cache
def bent(curve: Curve, slope: Fraction, z: Fraction) -> Fraction:
    """What a unit computes of its pre-activation."""
    match curve:
        case Curve.LEAKY:
            return max(z, Fraction(0)) + slope * min(z, Fraction(0))
        case Curve.SIGMOID:
            return rounded(1 / (1 + exponential(-z)), 500)
        case Curve.TANH:
            power = exponential(2 * z)
            return rounded((power - 1) / (power + 1), 500)
        case Curve.SOFTPLUS:
            return rounded(max(z, Fraction(0)) + logarithm(1 + exponential(-abs(z))), 500)
        case Curve.ELU:
            return z if z > 0 else rounded(exponential(z) - 1, 500)
        case Curve.ERF:
            return error_function(z)
        case Curve.SILU:
            return rounded(z / (1 + exponential(-z)), 500)
        case Curve.GELU:
            return rounded(z * (1 + error_function(z)) / 2, 500)
        case Curve.GELU_TANH:
            inner = 2 * Fraction(0.7978845608028654) * (z + Fraction(0.044715) * z**3)
            inner = min(max(inner, Fraction(-2000)), Fraction(2000))
            return rounded(z / (1 + exponential(-inner)), 500)
        case Curve.HARD_SWISH:
            return z * min(max(z + 3, Fraction(0)), Fraction(6)) / 6
        case Curve.LOG1P:
            return rounded(logarithm(1 + max(z, Fraction(0))), 500)


def scores(model: Model, point: Point) -> list[Fraction]:
    return scores_of(model, [point])[0]


def scores_of(model: Model, points: Sequence[Point]) -> list[list[Fraction]]:
    """The scores of each."""
    columns = columns_of(points)
    read = [
        columns[item.attribute]
        if isinstance(item, AttributeInput)
        else np.broadcast_to(true_for(item.predicate, {Who.EACH: columns}), len(points)).astype(object)
        for item in model.inputs
    ]
    if isinstance(model.opaque, KernelMachine):
        read = list(zip(*(machine_values(model.opaque, one) for one in zip(*read, strict=True)), strict=True))
    signals, over = whole_table(read, len(points))
    for layer in model.layers:
        table, shared = whole_table([*layer.weight.exact.T, layer.bias.exact], layer.width)
        z = table.T @ np.vstack([signals, np.full(len(points), over, dtype=object)])
        over *= shared
        if layer.curves:
            slopes = layer.slope.exact.tolist()
            rows = zip(z, layer.curves, slopes, strict=True)
            bends = [[bent(curve, slope, Fraction(x, over)) for x in row] for row, curve, slope in rows]
            signals, over = whole_table(bends, len(points))
        else:
            slopes, steep = whole(layer.slope.exact.tolist())
            signals = np.where(z > 0, z * steep, z * np.array(slopes, dtype=object)[:, None])
            over *= steep
    return [[Fraction(x, over) for x in found] for found in signals.T.tolist()]


def whole_table(rows: Sequence[Sequence[Fraction]], width: int) -> tuple[Column, int]:
    """Rows of so many numbers as integers over one positive denominator."""
    integers, over = whole([number for row in rows for number in row])
    return np.array(integers, dtype=object).reshape(len(rows), width), over


def machine_values(machine: KernelMachine, inputs: list[Fraction]) -> list[Fraction]:
    layer = machine.features
    features = [
        Fraction(bias) + sum(w * x for w, x in zip(row, inputs, strict=True))
        for row, bias in zip(layer.weight.exact, layer.bias.exact, strict=True)
    ]
    kernels = [kernel_value(machine, row, features) for row in machine.vectors.exact]
    return [
        Fraction(offset) + sum(c * k for c, k in zip(row, kernels, strict=True))
        for row, offset in zip(machine.coefficients.exact, machine.offsets.exact, strict=True)
    ]


def kernel_value(machine: KernelMachine, vector: list[Fraction], features: list[Fraction]) -> Fraction:
    """``K(vector, features)``: of the Gaussian kernel and of tanh within 2**-500."""
    gamma, constant = Fraction(machine.gamma), Fraction(machine.coef0)
    product = sum((s * x for s, x in zip(vector, features, strict=True)), Fraction(0))
    match machine.kernel:
        case Kernel.LINEAR:
            return product
        case Kernel.POLY:
            return (gamma * product + constant) ** machine.degree
        case Kernel.SIGMOID:
            return bent(Curve.TANH, Fraction(0), gamma * product + constant)
        case Kernel.RBF:
            distance = sum(((s - x) ** 2 for s, x in zip(vector, features, strict=True)), Fraction(0))
            return rounded(exponential(-gamma * distance), 500)


def snapped(model: Model, x: Fraction, to: Fraction) -> Fraction:
    """``to`` itself if x is only another approximation of it."""
    curved = model.opaque is not None or any(layer.curves for layer in model.layers)
    return to if curved and abs(x - to) < Fraction(1, 2**300) else x


def outcome(model: Model, point: Point) -> int:
    return decided(model, scores(model, point))


def decided(model: Model, found: list[Fraction]) -> int:
    """The outcome that the decision rule makes of the scores."""
    rule = model.rule
    if isinstance(rule, ByThreshold):
        assert rule.low == rule.high, "the oracle knows rational thresholds only"
        score = snapped(model, found[0], rule.low)
        return rule.granted if RELATIONS[rule.relation.value](score, rule.low) else rule.otherwise
    return [snapped(model, x, max(found)) for x in found].index(max(found))


def confidence(model: Model, point: Point) -> Fraction:
    """The probability that the model gives to the decision which it takes, within 2**-400."""
    return confident(model, scores(model, point))


def confident(model: Model, found: list[Fraction]) -> Fraction:
    """The probability of the decision that the decision rule makes of the scores."""
    logits = [model.logits.scale * score for score in found]
    rule, taken = model.rule, decided(model, found)
    if isinstance(rule, ByThreshold):
        above = bent(Curve.SIGMOID, Fraction(0), logits[0])
        return above if (taken == rule.granted) == (rule.relation in (Relation.GT, Relation.GE)) else 1 - above
    return exponential(logits[taken]) / sum(exponential(logit) for logit in logits)


def whom_the_target_names(predicate: Predicate) -> set[Who]:
    match predicate:
        case Compare(left=left):
            return {variable.who for variable, _ in left.terms}
        case Member(variable=variable):
            return {variable.who}
        case And(parts) | Or(parts):
            return {who for part in parts for who in whom_the_target_names(part)}
        case Not(part):
            return whom_the_target_names(part)


def sure_enough(question: Pair, of_a: Fraction, of_b: Fraction) -> bool:
    """Whether the model gives a and b their decisions with the probabilities that the question asks for."""
    for sure in question.sure:
        found = of_a if sure.who is Who.A else of_b
        if abs(found - sure.level) < Fraction(1, 2**300):
            found = sure.level
        if not RELATIONS[sure.relation.value](found, sure.level):
            return False
    return True


def compared(question: Pair, domain: Domain, individuals: Sequence[Point]) -> list[tuple[Point, Point]]:
    """The pairs by similarity alone: who differs, who may, and everybody else equal."""
    relaxed = {entry.attribute: entry.by for entry in question.relax if entry.attribute not in question.differ}
    held = [index for index in range(len(domain.attributes)) if index not in question.differ and index not in relaxed]
    shared = [tuple(point[index] for index in held) for point in individuals]
    equal = defaultdict(list)
    for place, values in enumerate(shared):
        equal[values].append(place)
    candidates = [(place, other) for place, values in enumerate(shared) for other in equal[values]]
    columns = columns_of(individuals)
    a, b = (columns[:, [pair[side] for pair in candidates]] for side in (0, 1))
    quantified = and_ if question.mode is Differ.EACH else or_
    found = reduce(quantified, [a[index] != b[index] for index in question.differ])
    for index, by in relaxed.items():
        if by is not None:
            found &= abs(a[index] - b[index]) <= by
    found &= true_for(question.pair_target, {Who.A: a, Who.B: b})
    return [(individuals[x], individuals[y]) for x, y in compress(candidates, found)]


def truth(problem: Problem) -> Truth:
    """The answer to every quantity of a pair question, by enumeration."""
    question, domain, model = problem.question, problem.domain, problem.model
    assert isinstance(question, Pair)
    everyone = list(product(*([int(value) for value in values_of(column.type)] for column in domain.attributes)))
    individuals = those_for_whom(And((domain.where, question.target)), everyone)
    if not individuals:
        return Truth([], total=0, fair=0, vacuous=0)
    score = dict(zip(individuals, scores_of(model, individuals), strict=True))
    decision = {point: decided(model, score[point]) for point in individuals}
    confidences = {point: confident(model, score[point]) for point in individuals if question.sure}
    pairs = [
        (a, b)
        for a, b in compared(question, domain, individuals)
        if not question.sure or sure_enough(question, confidences[a], confidences[b])
    ]

    def breaks(a: Point, b: Point) -> bool:
        if isinstance(question.demand, SameDecision):
            return decision[a] != decision[b]
        gap = snapped(model, abs(score[a][0] - score[b][0]), question.demand.limit)
        return not RELATIONS[question.demand.relation.value](gap, question.demand.limit)

    violations = [(a, b) for a, b in pairs if breaks(a, b)]

    # Where the target names one of the two alone, the units are the individuals that can be this one.
    named = whom_the_target_names(question.pair_target)
    one_sided = named.pop() if len(named) == 1 else None

    # x itself: without `relax` the values of the attributes that do not differ, else the individual.
    shared = [index for index in range(len(domain.attributes)) if index not in question.differ]
    by_individual = bool(question.relax or one_sided)
    unit_of = {point: point if by_individual else tuple(point[index] for index in shared) for point in individuals}

    def those_of(found: list[tuple[Point, Point]]) -> set[Point]:
        sides = {Who.A: (0,), Who.B: (1,), None: (0, 1)}[one_sided]
        return {unit_of[pair[side]] for side in sides for pair in found}

    can_be = individuals if one_sided is None else those_for_whom(question.pair_target, individuals, one_sided)
    units = {unit_of[point] for point in can_be}
    paired = those_of(pairs)
    if by_individual or not isinstance(question.demand, SameDecision):
        unfair = those_of(violations)
    else:
        members = {unit: [] for unit in units}
        linked = {point: [] for point in individuals}
        for point in individuals:
            members[unit_of[point]].append(point)
        for a, b in pairs:
            linked[a].append(b)
            linked[b].append(a)
        unfair = {unit for unit in units if not _constant_on_components(members[unit], linked, decision)}
    everybody = [tuple(Fraction(value) for value in point) for point in individuals]
    treated, asked = (
        frozenset(tuple(Fraction(value) for value in point) for point in can_be if unit_of[point] in chosen)
        for chosen in (unfair, paired)
    )
    return Truth(violations, len(paired), len(paired - unfair), len(units - paired), everybody, treated, asked)


def worst_gap(problem: Problem) -> Fraction | None:
    """How far apart the scores of two who are compared are at most; None where nobody is."""
    never = ScoreGap(relation=Relation.LT, limit=Fraction(0))  # whoever is compared breaks it
    pairs = truth(replace(problem, question=replace(problem.question, demand=never))).violations
    score = {point: scores(problem.model, point)[0] for pair in pairs for point in pair}
    return max((abs(score[a] - score[b]) for a, b in pairs), default=None)


def _constant_on_components(members, linked, decision) -> bool:
    """Whether the decision is constant on every connected component of R over one x."""
    unseen = set(members)
    while unseen:
        component, reached = set(), {unseen.pop()}
        while reached:
            component |= reached
            reached = {other for point in reached for other in linked[point]} - component
        unseen -= component
        if len({decision[point] for point in component}) > 1:
            return False
    return True
