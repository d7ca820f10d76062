"""Whether an ordered pair is one that the question speaks of, rule by rule (docs/semantics.md, section 2)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.domain import Domain, Point, Real, show_number
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Model
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.confidence import is_sure
from fairdsl.numerics.predicates import holds_for, holds_for_pair


def admissible(pair: Pair, domain: Domain, a: Point, b: Point, model: Model | None = None) -> str | None:
    """None if (a, b) is an admissible pair of the question; otherwise the rule that it breaks.

    The model is needed where the question asks how sure it is (ValueError without it). Whom it may or may not be
    sure of, as far as arithmetic tells, is not admitted.
    """
    return (
        outside("a", a, pair, domain)
        or outside("b", b, pair, domain)
        or _not_comparable(pair, domain, a, b)
        or (None if holds_for_pair(pair.pair_target, a, b) else "the pair does not meet `among`")
        or _not_sure(pair, model, a, b)
    )


def _not_sure(pair: Pair, model: Model | None, a: Point, b: Point) -> str | None:
    if not pair.sure:
        return None
    if model is None:
        raise ValueError("the model's confidence is not known without it")
    for sure in pair.sure:
        answer = is_sure(model, a if sure.who is Who.A else b, (sure,))
        if answer is not True:
            asked = f"`confidence({sure.who.value}) {sure.relation.value} {show_number(sure.level)}`"
            return f"{asked} is not met" if answer is False else f"{asked} stays open"
    return None


def outside(name: str, point: Point, pair: Pair, domain: Domain) -> str | None:
    """None if an individual is in the domain and in the target; otherwise the rule that it breaks."""
    if len(point) != len(domain.attributes):
        return f"{name} has {len(point)} values for {len(domain.attributes)} attributes"
    for attribute, value in zip(domain.attributes, point, strict=True):
        if not attribute.contains(value):
            return f"{name}.{attribute.name} = {value} is outside the domain"
    if not holds_for(domain.where, point):
        return f"{name} does not satisfy the domain's `where`"
    if not holds_for(pair.target, point):
        return f"{name} does not meet `among`"
    return None


def _not_comparable(pair: Pair, domain: Domain, a: Point, b: Point) -> str | None:
    relaxed = {relaxation.attribute: relaxation.by for relaxation in pair.relax}
    for index, attribute in enumerate(domain.attributes):
        if index in pair.differ:
            continue
        if index not in relaxed:
            if a[index] != b[index]:
                return f"`{attribute.name}` must be equal"
        elif (by := relaxed[index]) is not None and abs(a[index] - b[index]) > by:
            return f"`{attribute.name}` may differ by at most {by}"
    apart = [a[index] != b[index] for index in pair.differ]
    if pair.mode is Differ.EACH and not all(apart):
        return "every named attribute must differ"
    return None if any(apart) else "some named attribute must differ"


def round_point(domain: Domain, point: Point) -> Point:
    """The point with its real values moved to float32 numbers inside the attribute's bounds.

    A bound that lies between two float32 numbers is approached from inside; where no float32 number is
    inside, the value stays. The result must be checked again: `where` and target may not hold for it.
    """
    return tuple(
        _round(value, attribute.type) if isinstance(attribute.type, Real) else value
        for attribute, value in zip(domain.attributes, point, strict=True)
    )


def _round(value: Fraction, real: Real) -> Fraction:
    try:
        nearest = np.float32(float(value))
    except OverflowError:
        return value
    # `up` moves a number below the lower bound to the next one above it, and the other way round.
    for bound, direction in ((real.low, np.float32(np.inf)), (real.high, np.float32(-np.inf))):
        if bound is None or not np.isfinite(nearest):
            continue
        outside = Fraction(float(nearest)) < bound if direction > 0 else Fraction(float(nearest)) > bound
        if outside:
            nearest = np.nextafter(nearest, direction)
    if not np.isfinite(nearest):
        return value
    rounded = Fraction(float(nearest))
    inside = (real.low is None or real.low <= rounded) and (real.high is None or rounded <= real.high)
    return rounded if inside else value
