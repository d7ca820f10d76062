"""The definitions of docs/semantics.md (sections 1 to 3), written down naively in exact fractions.

Sigmoid and tanh have no rational values: theirs are fractions within 2**-450, and numbers that are nearer
than 2**-300 count as equal. No small problem has others that are.

Shares no code with any engine: it reads the data classes of the IR and nothing else. Every loop is the
quantifier that it stands for; nothing here is fast. It is what the engines are compared with.
Whole numbers of a pair are an `int`: equal to the fraction, and compared much faster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product

from fairdsl.ir.domain import Boolean, Category, Domain, Integer, Point
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, Relation, Who
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Curve, Model
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, SameDecision

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


def true_for(predicate: Predicate, individuals: dict[Who, Point]) -> bool:
    match predicate:
        case Compare(left=left, relation=relation):
            value = left.constant
            for variable, coefficient in left.terms:
                value += coefficient * individuals[variable.who][variable.attribute]
            return RELATIONS[relation.value](value, 0)
        case Member(variable=variable, values=values):
            return individuals[variable.who][variable.attribute] in values
        case And(parts):
            return all(true_for(part, individuals) for part in parts)
        case Or(parts):
            return any(true_for(part, individuals) for part in parts)
        case Not(part):
            return not true_for(part, individuals)


def exponential(x: Fraction) -> Fraction:
    """By the series at x / 2**n, squared n times; negative numbers by their inverse."""
    if x < 0:
        return 1 / exponential(-x)
    doublings = 8 + int(x).bit_length()
    small, term, total = x / 2**doublings, Fraction(1), Fraction(1)
    for n in range(1, 70):
        term = rounded(term * small / n, 600)
        total += term
    for _ in range(doublings):
        total = rounded(total * total, 600)
    return total


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


def scores(model: Model, point: Point) -> list[Fraction]:
    signals = [
        point[item.attribute]
        if isinstance(item, AttributeInput)
        else Fraction(1 if true_for(item.predicate, {Who.EACH: point}) else 0)
        for item in model.inputs
    ]
    if isinstance(model.opaque, KernelMachine):
        signals = machine_values(model.opaque, signals)
    for layer in model.layers:
        slopes = layer.slope.exact.tolist()
        curves = layer.curves or [Curve.LEAKY] * len(slopes)
        following = []
        rows = zip(layer.weight.exact.tolist(), layer.bias.exact.tolist(), curves, slopes, strict=True)
        for weights, bias, curve, slope in rows:
            z = Fraction(bias)
            for weight, signal in zip(weights, signals, strict=True):
                z += weight * signal
            following.append(bent(curve, slope, z))
        signals = following
    return signals


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
    logits = [model.logits.scale * score for score in scores(model, point)]
    rule, decided = model.rule, outcome(model, point)
    if isinstance(rule, ByThreshold):
        above = bent(Curve.SIGMOID, Fraction(0), logits[0])
        return above if (decided == rule.granted) == (rule.relation in (Relation.GT, Relation.GE)) else 1 - above
    return exponential(logits[decided]) / sum(exponential(logit) for logit in logits)


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


def comparison(question: Pair, domain: Domain) -> Callable[[Point, Point], bool]:
    """Similarity alone: who differs, who may, and everybody else equal."""
    quantified = all if question.mode is Differ.EACH else any
    relaxed = {entry.attribute: entry.by for entry in question.relax if entry.attribute not in question.differ}
    held = [index for index in range(len(domain.attributes)) if index not in question.differ and index not in relaxed]
    bounded = [(index, by) for index, by in relaxed.items() if by is not None]

    def comparable(a: Point, b: Point) -> bool:
        for index in held:
            if a[index] != b[index]:
                return False
        if not quantified([a[index] != b[index] for index in question.differ]):
            return False
        for index, by in bounded:
            if abs(a[index] - b[index]) > by:
                return False
        return true_for(question.pair_target, {Who.A: a, Who.B: b})

    return comparable


def truth(problem: Problem) -> Truth:
    """The answer to every quantity of a pair question, by enumeration."""
    question, domain, model = problem.question, problem.domain, problem.model
    assert isinstance(question, Pair)
    individuals = [
        point
        for point in product(*([plain(value) for value in values_of(column.type)] for column in domain.attributes))
        if true_for(domain.where, {Who.EACH: point}) and true_for(question.target, {Who.EACH: point})
    ]
    score = {point: scores(model, point) for point in individuals}
    decision = {point: decided(model, score[point]) for point in individuals}
    confidences = {point: confidence(model, point) for point in individuals if question.sure}
    comparable = comparison(question, domain)
    pairs = [
        (a, b)
        for a in individuals
        for b in individuals
        if comparable(a, b) and (not question.sure or sure_enough(question, confidences[a], confidences[b]))
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

    def unit_of(point: Point) -> Point:
        """x itself: without `relax` the values of the attributes that do not differ, else the individual."""
        if question.relax or one_sided:
            return point
        return tuple(value for index, value in enumerate(point) if index not in question.differ)

    def those_of(found: list[tuple[Point, Point]]) -> set[Point]:
        sides = {Who.A: (0,), Who.B: (1,), None: (0, 1)}[one_sided]
        return {unit_of(pair[side]) for pair in found for side in sides}

    can_be = [point for point in individuals if one_sided is None or true_for(question.pair_target, {one_sided: point})]
    units = {unit_of(point) for point in can_be}
    paired = those_of(pairs)
    if question.relax or one_sided or not isinstance(question.demand, SameDecision):
        unfair = those_of(violations)
    else:
        members = {unit: [] for unit in units}
        edges = {unit: [] for unit in units}
        for point in individuals:
            members[unit_of(point)].append(point)
        for a, b in pairs:
            edges[unit_of(a)].append((a, b))
        unfair = {unit for unit in units if not _constant_on_components(members[unit], edges[unit], decision)}
    everybody = [tuple(Fraction(value) for value in point) for point in individuals]
    treated, asked = (
        frozenset(tuple(Fraction(value) for value in point) for point in can_be if unit_of(point) in chosen)
        for chosen in (unfair, paired)
    )
    return Truth(violations, len(paired), len(paired - unfair), len(units - paired), everybody, treated, asked)


def plain(value: Fraction) -> Fraction | int:
    """The same number, as an ``int`` where it is one."""
    return int(value) if value.denominator == 1 else value


def _constant_on_components(members, edges, decision) -> bool:
    """Whether the decision is constant on every connected component of R over one x."""
    unseen = set(members)
    while unseen:
        component = {unseen.pop()}
        grown = True
        while grown:
            reached = {q for a, b in edges for p, q in ((a, b), (b, a)) if p in component} - component
            component |= reached
            grown = bool(reached)
        unseen -= component
        if len({decision[point] for point in component}) > 1:
            return False
    return True
