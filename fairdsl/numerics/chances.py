"""Probabilities that models give, as numbers that a formula adds and compares.

The probability of an outcome is ``1 / (1 + sum of exp(d_j))`` over the other outcomes j, with the leads d_j of
:mod:`~fairdsl.numerics.confidence`: of one score z, the logistic of z or of -z. Sums of such numbers are enclosed, by
ever more digits, and that tells their sign unless they are 0.

Theorem. Where the leads are rational it is decided whether ``c + sum of f_i / D_i`` is 0, with ``D_i = 1 + sum of
exp(d_ij)``: times all D_i it is a sum of rational multiples of exponentials of distinct rational numbers, which is 0
only if each multiple is (Lindemann and Weierstrass).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import exp, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.demand import Chance, Demanded, Probability, Score
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Variable, fold
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.numerics.confidence import approximate_log_odds, exp_between, leads_of, odds_against
from fairdsl.numerics.demand import Between
from fairdsl.numerics.exact import Enclosed

Floats = NDArray[np.float64]
Decisions = NDArray[np.integer[Any]]

#: Products of so many exponentials are written out; more stay open.
_MOST = 4096
#: More than the roundings of ``1 / (1 + odds)`` in float64 take.
_SLACK = 2.0**-50


def outcome_of(term: Chance, model: Model, decided: int | None) -> int | None:
    """The outcome whose probability it is; None where that is the decision, and it stays open."""
    if not isinstance(term, Probability):
        return decided
    assert isinstance(model.rule, ByThreshold), "a probability that is compared is one of a single score"
    return model.rule.above


def chance_between(term: Chance, model: Model, scores: Enclosed, decided: int | None, digits: int) -> Enclosure:
    """Two fractions that the number lies between, where so many digits of the exponentials are computed."""
    outcome = outcome_of(term, model, decided)
    if outcome is None:
        return Enclosure(low=Fraction(0), high=Fraction(1))
    leads, errors = leads_of(model, scores, outcome)
    least, most = Fraction(1), Fraction(1)
    for lead, error in zip(leads, errors, strict=True):
        low, high = exp_between(lead - error, lead + error, digits)
        least += max(Fraction(0), Fraction(low))
        if not high.is_finite():
            return Enclosure(low=Fraction(0), high=1 / least)
        most += Fraction(high)
    return Enclosure(low=1 / most, high=1 / least)


def chances_between(term: Chance, model: Model, scores: Floats, errors: Floats, decisions: Decisions) -> Between:
    """The same of many individuals, from scores [n, k] within ``errors``; of open decisions nothing is known."""
    chosen = decisions
    if isinstance(term, Probability):
        chosen = np.full(len(scores), outcome_of(term, model, None), dtype=np.int64)
    least, most = odds_against(model, scores, errors, chosen)
    with np.errstate(all="ignore"):
        low, high = (1 - _SLACK) / (1 + most) - 1e-300, (1 + _SLACK) / (1 + np.maximum(least, 0.0)) + 1e-300
    known = (chosen >= 0) & ~np.isnan(low) & ~np.isnan(high)
    return Between(np.where(known, np.maximum(low, 0.0), 0.0), np.where(known, np.minimum(high, 1.0), 1.0))


def logistic(score: float) -> float:
    """The logistic function as whoever reads a file's float score computes it, in float64: one number a score."""
    odds = exp(-abs(score))
    return 1 / (1 + odds) if score >= 0 else odds / (1 + odds)


def approximate_odds_of(term: Chance, model: Model, scores: Floats, decisions: Decisions) -> Floats:
    """The logits of the numbers, [n], without an error bound: for searching, never for deciding."""
    if isinstance(term, Probability):
        decisions = np.full(len(scores), outcome_of(term, model, None), dtype=np.int64)
    return approximate_log_odds(model, scores, decisions)


def as_scores(predicate: Predicate, asked: Demanded, models: Sequence[Model], attributes: int) -> Predicate:
    """The predicate with scores in the place of probabilities that are compared with each other, or with 1/2.

    The logistic function increases, so that ties are ties of scores, which no enclosure has to show.
    """

    def of_atom(atom: Compare | Member) -> Predicate:
        if not isinstance(atom, Compare):
            return atom
        half = Fraction(0)
        scores: dict[Variable, Fraction] = {}
        for variable, factor in atom.left.terms:
            term = asked.term(variable)
            if not isinstance(term, Probability):
                return atom
            logits = models[term.model].logits
            assert logits is not None, "a probability is one of a model that has them"
            place = attributes + asked.terms.index(Score(model=term.model))
            scores[Variable(place, variable.who)] = factor * logits.scale
            half += factor / 2
        factors = [factor for _, factor in atom.left.terms]
        opposite = len(factors) == 2 and sum(factors) == 0
        if (opposite or len(factors) == 1) and atom.left.constant == -half:
            scale = abs(factors[0])
            return replace(atom, left=Linear.of(scores).scaled(1 / scale))
        return atom

    return fold(predicate, of_atom, lambda parts: And(tuple(parts)), lambda parts: Or(tuple(parts)), Not)


def vanishes(constant: Fraction, parts: Iterable[tuple[Fraction, Sequence[Fraction]]]) -> bool:
    """Whether the constant and the probabilities, each times its factor, add up to exactly 0.

    A probability is given by its leads. What would take too many products is not told: False.
    """
    added: dict[tuple[Fraction, ...], Fraction] = {}
    for factor, leads in parts:
        key = tuple(sorted(leads))
        added[key] = added.get(key, Fraction(0)) + factor
    known = [(factor, (Fraction(0), *leads)) for leads, factor in added.items() if factor]
    if prod(len(leads) for _, leads in known) > _MOST:
        return False
    total: dict[Fraction, Fraction] = {}
    for place, factor in [(None, constant), *((place, factor) for place, (factor, _) in enumerate(known))]:
        sums = {Fraction(0): factor}
        for other, (_, leads) in enumerate(known):
            if other != place:
                sums = _times(sums, leads)
        for exponent, multiple in sums.items():
            total[exponent] = total.get(exponent, Fraction(0)) + multiple
    return not any(total.values())


def _times(sums: dict[Fraction, Fraction], exponents: Sequence[Fraction]) -> dict[Fraction, Fraction]:
    """A sum of multiples of exponentials times a sum of exponentials."""
    found: dict[Fraction, Fraction] = {}
    for exponent, multiple in sums.items():
        for more in exponents:
            found[exponent + more] = found.get(exponent + more, Fraction(0)) + multiple
    return found
