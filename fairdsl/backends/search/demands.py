"""A hunt for those who break a general demand: tuples are drawn, and moved to where the formula is less true.

How true a formula is, is a number: of a comparison the distance from its border, of a decision the distance of the
score from another one, of a conjunction the least of its parts (Fainekos and Pappas, *Robustness of temporal logic
specifications*, 2006). It guides the hunt only; what is found is replayed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Refusal
from fairdsl.backends.search.admissibility import admissible_rows
from fairdsl.backends.search.sampling import Sampler
from fairdsl.clock import until
from fairdsl.ir.demand import Decision, Demanded, Magnitude
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Quantity
from fairdsl.models.evaluators import evaluator_of
from fairdsl.numerics.demand import TRUE, Between, truths
from fairdsl.numerics.evaluate import points_of
from fairdsl.numerics.narrow import count_points
from fairdsl.numerics.threads import one_blas_thread
from fairdsl.replay import Exactly, breach
from fairdsl.verdict import Breach, Evidence, Fidelity, Reason, Unknown, Verdict, Violated

__all__ = ["answer_demand", "offer_demand"]

Floats = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_SECONDS, _FRACTION, _ALONE = 2.0, 0.1, 0.9
#: Tuples that are moved together, moves after which they are drawn anew, and evaluations for each individual.
_TUPLES, _MOVES, _REPEATS = 256, 60, 1
_ENOUGH, _CHECKED, _BARREN = 5, 12, 20


def offer_demand(problem: Problem, asked: Demanded) -> Offer | Refusal:
    """Any formula; never a decision that nobody breaks it."""
    if problem.quantity is not Quantity.HOLDS or problem.population is not None:
        return Refusal(why="it finds violations, and counts nothing", span=asked.span)
    return Offer(method="moves individuals to where the formula is less true", decides=False)


def answer_demand(problem: Problem, asked: Demanded, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
    """Violated with replayed breaches, or Unknown."""
    hunt = _Hunt(problem, asked, budget.seed)
    part = _ALONE if facts.alone and (hunt.points is None or hunt.points > 2**16) else _FRACTION
    seconds = part * budget.remaining if part == _ALONE else min(_SECONDS, part * budget.remaining)
    share = Budget.of(seconds, jobs=1, seed=budget.seed)
    with one_blas_thread(), until(share.deadline):  # what was found by then is kept
        hunt.run(share, observer)
    evidence = Evidence(
        backend="search",
        method=f"{hunt.evaluated:,} individuals drawn and evaluated, seed {budget.seed}",
        fidelity=Fidelity.NARROWS,
    )
    sound = tuple(each for each in hunt.found if each.agrees)
    if sound:
        return Violated(witnesses=(), breaches=sound, evidence=evidence)
    if hunt.found:
        detail = "exact arithmetic and the deployed files disagree on the violations found"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, breaches=tuple(hunt.found))
    return Unknown(reason=Reason.INCOMPLETE, detail="no violation found", evidence=evidence)


class _Hunt:
    """One run: what was found and how much was tried."""

    def __init__(self, problem: Problem, asked: Demanded, seed: int) -> None:
        self._problem, self._asked = problem, asked
        self._rng = np.random.default_rng(seed)
        self._sampler = Sampler(problem.domain, asked.pair.target, self._rng)
        self._evaluators = [evaluator_of(model) for model in problem.models]
        self._exactly = Exactly(problem)
        self._attributes = len(problem.domain.attributes)
        #: How many individuals domain and target leave, at most; None without a number.
        self.points = count_points(self._sampler.sets)
        self.found: list[Breach] = []
        self.evaluated = 0

    def run(self, budget: Budget, observer: Observer) -> None:
        """Hunt until enough is found, nothing can be drawn, or the budget ends."""
        barren = 0
        most = np.inf if self.points is None else _REPEATS * max(_TUPLES, self.points)
        while not self._sampler.empty and barren < _BARREN and self.evaluated < most:
            people = self._drawn()
            if not len(people[self._asked.people[0]]):
                barren += 1
                continue
            barren = 0
            truth = self._truth(people)
            for _ in range(_MOVES):
                self._check(people, truth)
                if sum(each.agrees for each in self.found) >= _ENOUGH or budget.exhausted:
                    return
                people, truth = self._moved(people, truth)
                observer.progress("search", None, f"{self.evaluated:,} individuals")

    # ---- tuples --------------------------------------------------------------------------------

    def _drawn(self) -> dict[Who, Floats]:
        first = self._sampler.draw(_TUPLES)
        if self._asked.alone:
            return {Who.EACH: first}
        second = self._partner(first)
        kept = self._fits({Who.A: first, Who.B: second})
        return {Who.A: first[kept], Who.B: second[kept]}

    def _partner(self, first: Floats) -> Floats:
        """The same individuals with what may differ drawn anew."""
        second, pair = first.copy(), self._asked.pair
        for index in pair.differ:
            drawn = self._sampler.columns[index].draw(len(first), self._rng)
            changes = pair.mode is Differ.EACH or len(pair.differ) == 1
            chosen = np.ones(len(first), dtype=np.bool_) if changes else self._rng.random(len(first)) < 0.5
            second[chosen, index] = drawn[chosen]
        for each in pair.relax:
            column = self._sampler.columns[each.attribute]
            if each.by is None or not column.ordered:
                second[:, each.attribute] = column.draw(len(first), self._rng)
            else:
                step = self._rng.uniform(-1, 1, len(first)) * float(each.by)
                second[:, each.attribute] = column.settle(first[:, each.attribute] + step)
        return second

    def _fits(self, people: dict[Who, Floats]) -> BoolArray:
        if self._asked.alone:
            return self._sampler.inside(people[Who.EACH])
        return admissible_rows(self._asked.pair, self._problem.domain, people[Who.A], people[Who.B])

    def _moved(self, people: dict[Who, Floats], truth: Floats) -> tuple[dict[Who, Floats], Floats]:
        """The tuples with one attribute of each moved, where that makes the formula no truer."""
        count = len(truth)
        moved = {who: points.copy() for who, points in people.items()}
        which = self._rng.integers(0, self._attributes, count)
        pair = self._asked.pair
        apart = {*pair.differ, *(each.attribute for each in pair.relax)}
        for index in np.unique(which).tolist():
            rows = np.flatnonzero(which == index)
            column = self._sampler.columns[index]
            if index in apart:
                for points in moved.values():
                    some = rows[self._rng.random(len(rows)) < 0.7]
                    points[some, index] = column.step(points[some, index], self._rng)
            else:
                values = column.step(next(iter(moved.values()))[rows, index], self._rng)
                for points in moved.values():
                    points[rows, index] = values
        fits = self._fits(moved)
        value = np.full(count, np.inf)
        if fits.any():
            value[fits] = self._truth({who: points[fits] for who, points in moved.items()})
        better = fits & (value <= truth)
        for who, points in moved.items():
            points[~better] = people[who][~better]
        return moved, np.where(better, value, truth)

    def _check(self, people: dict[Who, Floats], truth: Floats) -> None:
        """Replay tuples of which the formula is false, or on the border."""
        for row in np.argsort(truth, kind="stable")[:_CHECKED].tolist():
            if truth[row] > 0 or sum(each.agrees for each in self.found) >= _ENOUGH:
                return
            points = {who: points_of(values[[row]])[0] for who, values in people.items()}
            known = breach(self._problem, points, self._exactly)
            if known is not None and known not in self.found:
                self.found.append(known)
            truth[row] = np.inf  # it is moved on from anywhere

    # ---- how true ------------------------------------------------------------------------------

    def _truth(self, people: dict[Who, Floats]) -> Floats:
        """How true it is that the demand is met; negative where it is broken."""
        self.evaluated += sum(map(len, people.values()))
        scores = {
            (place, who): evaluator.approximate(points)
            for place, evaluator in enumerate(self._evaluators)
            for who, points in people.items()
        }

        def number(variable: Variable) -> Floats:
            term = self._asked.term(variable, self._attributes)
            match term:
                case None:
                    return people[variable.who][:, variable.attribute]
                case Magnitude(form=form):
                    return np.abs(total(form))
                case Decision(model=model, ranks=ranks):
                    decided = self._evaluators[model].approximate_decisions(scores[model, variable.who])
                    return np.array(ranks, dtype=np.float64)[np.maximum(decided, 0)]
            return scores[term.model, variable.who][:, 0]

        def total(form: Linear) -> Floats:
            found = np.full(len(next(iter(people.values()))), float(form.constant))
            for variable, factor in form.terms:
                found = found + float(factor) * number(variable)
            return found

        def margin(atom: Compare | Member) -> Floats | None:
            """The distance of the nearest score from another decision; None where no decision plays a part."""
            used = [atom.variable] if isinstance(atom, Member) else [variable for variable, _ in atom.left.terms]
            found = [
                self._evaluators[term.model].margins(scores[term.model, variable.who])
                for variable in used
                if isinstance(term := self._asked.term(variable, self._attributes), Decision)
            ]
            return np.minimum.reduce(found) if found else None

        with np.errstate(all="ignore"):
            premise = _degree(self._asked.premise, total, number, margin)
            formula = _degree(self._asked.formula, total, number, margin)
            return np.nan_to_num(np.maximum(-premise, formula), nan=np.inf)


def _degree(
    predicate: Predicate,
    total: Callable[[Linear], Floats],
    number: Callable[[Variable], Floats],
    margin: Callable[[Compare | Member], Floats | None],
) -> Floats:
    """How true a predicate is, row by row."""
    match predicate:
        case And(()):
            return np.full(1, np.inf)
        case Or(()):
            return np.full(1, -np.inf)
        case And(parts):
            return _folded(np.minimum, [_degree(part, total, number, margin) for part in parts])
        case Or(parts):
            return _folded(np.maximum, [_degree(part, total, number, margin) for part in parts])
        case Not(part):
            return -_degree(part, total, number, margin)
        case Member(variable=variable, values=values):
            inside = np.isin(number(variable), [float(value) for value in values])
            near = margin(predicate)
            return np.where(inside, 1.0, -1.0) * (1.0 if near is None else near + 1e-12)
        case Compare(left=left, relation=relation):
            value, near = total(left), margin(predicate)
            if near is not None:
                # All numbers are whole here, so rounding leaves nothing open.
                holds = truths(predicate, lambda variable: _known(number(variable)), len(value)) == TRUE
                return np.where(holds, 1.0, -1.0) * (near + 1e-12)
            return _distance(value, relation)


def _distance(value: Floats, relation: Relation) -> Floats:
    """How far ``value RELATION 0`` is from its border, negative where it is false."""
    match relation:
        case Relation.EQ:
            return -np.abs(value)
        case Relation.NE:
            return np.abs(value)
        case Relation.LT | Relation.LE:
            return -value
        case Relation.GT | Relation.GE:
            return value


def _known(numbers: Floats) -> Between:
    return Between(numbers, numbers)


def _folded(fold: Callable[[Floats, Floats], Floats], parts: list[Floats]) -> Floats:
    found = parts[0]
    for part in parts[1:]:
        found = fold(found, part)
    return found
