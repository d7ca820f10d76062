"""How probable it is that two people who share all that does not differ, both drawn, are decided differently.

The first one is drawn from the distribution, of those who are given; the second one of all who are asked about, given
what the two share. Of a unit of mass w whose people with outcome o have the mass w_o, and of which those who are given
have g and g_o, that is g - sum of g_o w_o / w. Whose decision is open agrees with everybody, or with nobody.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Refusal
from fairdsl.backends.enumerate.census import Census
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity, SameDecision
from fairdsl.metrics.weights import weights_of
from fairdsl.numerics.predicates import mask
from fairdsl.verdict import Evidence, Reason, Vacuous, Value


def refusal_of_redrawn(problem: Problem) -> Refusal | None:
    """Why nobody can be drawn a second time; None where somebody can, or something else is asked."""
    if problem.quantity is not Quantity.REDRAW_DISAGREEMENT:
        return None
    pair = problem.demanded.pair
    if pair.relax or pair.pair_target != TRUE or pair.sure or not isinstance(pair.demand, SameDecision):
        why = "whoever is drawn again shares what does not differ: no distances, no conditions on the two"
        return Refusal(why=why, span=pair.span)
    if not isinstance(problem.population, Network):
        return Refusal(why="people are drawn from a distribution", span=pair.span)
    return None


def redrawn(problem: Problem, census: Census, evidence: Evidence) -> Value | Vacuous:
    """The probability, exactly where everybody is decided, and in both arithmetics alike."""
    assert isinstance(problem.population, Network), "checked by the offer"
    people = np.flatnonzero(census.admissible)
    if census.masked and not len(people):
        return Vacuous(evidence=evidence)
    if not census.masked:
        return Value(number=Enclosure(low=Fraction(0), high=Fraction(1)), evidence=evidence, reason=Reason.TIMEOUT)
    points = census.grid.points(people)
    weights, _ = weights_of(problem.population, points)
    drawn = np.where(mask(problem.given, {Who.EACH: points}), weights, 0)
    if not drawn.sum():
        return Vacuous(evidence=evidence)
    shared = [axis for axis in range(len(census.grid.shape)) if axis not in problem.demanded.pair.differ]
    places = np.array(np.unravel_index(people, census.grid.shape))[shared]
    _, unit = np.unique(places, axis=1, return_inverse=True)
    both = [census.decisions] if census.deployed is None else [census.decisions, census.deployed]
    found = [_disagreement(weights, drawn, unit.reshape(-1), each.reshape(-1)[people]) for each in both]
    number, open_ = reduce(Enclosure.around, found), not all(each.exact for each in found)
    reason = (Reason.INCOMPLETE if census.complete else Reason.TIMEOUT) if open_ else Reason.NUMERIC_GAP
    return Value(number=number, evidence=evidence, reason=None if number.exact else reason)


def _disagreement(
    weights: NDArray[np.object_], drawn: NDArray[np.object_], unit: NDArray[np.int64], decisions: NDArray[np.int16]
) -> Enclosure:
    """Individuals are [n], and a decision below 0 is open."""
    outcomes = np.unique(decisions[decisions >= 0]).tolist()
    size = int(unit.max()) + 1
    mass, whole = np.zeros((2, size), dtype=object)
    np.add.at(mass, unit, weights)
    np.add.at(whole, unit, drawn)
    known = np.zeros((2, size), dtype=object)
    agreed = np.zeros(size, dtype=object)
    for outcome in outcomes:
        own = decisions == outcome
        of_all, of_drawn = np.zeros((2, size), dtype=object)
        np.add.at(of_all, unit[own], weights[own])
        np.add.at(of_drawn, unit[own], drawn[own])
        agreed += of_all * of_drawn
        known += np.stack([of_all, of_drawn])
    least = most = Fraction(0)
    for each in np.flatnonzero(whole != 0).tolist():
        apart = mass[each] * whole[each] - agreed[each]
        open_ = mass[each] * whole[each] - known[0, each] * known[1, each]
        least, most = least + Fraction(apart - open_, mass[each]), most + Fraction(apart, mass[each])
    total = int(drawn.sum())
    return Enclosure(low=least / total, high=most / total)
