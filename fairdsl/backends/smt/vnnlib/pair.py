"""The whole question over two copies of the network, as VNN-LIB 2.0 says it (``declare-network ... (equal-to f)``).

The network's inputs are all attributes of the domain, in its order, whether the model reads them or not, and
behind them the indicators that the model reads; its outputs are the scores. ``X`` and ``Y`` belong to a, ``X2``
and ``Y2`` to b.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import Atom, Case, cases, pair_of
from fairdsl.backends.smt.region import reads_only, whole_region
from fairdsl.backends.smt.vnnlib.chain import Affine, Chain, chained
from fairdsl.backends.smt.vnnlib.constraints import (
    NEVER,
    Formula,
    Line,
    Space,
    above,
    all_of,
    any_of,
    below,
    conditions,
)
from fairdsl.ir.domain import Real
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import ValueSet, decided
from fairdsl.numerics.rounding import float_above

_ONE = Fraction(1)
_ZERO = Fraction(0)
#: The variables of each individual.
_INPUTS = {"a": "X", "b": "X2"}
_OUTPUTS = {"a": "Y", "b": "Y2"}


@dataclass(frozen=True)
class PairQuery:
    """What the file asserts: variables that are equal, bounds and conditions, and the ways to break the demand."""

    equal: tuple[tuple[str, str], ...]
    conditions: tuple[Formula, ...]
    broken: Formula


def network_of(problem: Problem) -> Chain:
    """One copy: from all attributes and the model's indicators to the scores."""
    return _network(problem.model, len(problem.domain.attributes))


@lru_cache(maxsize=8)  # the partitions of a question differ in their boxes alone
def _network(model: Model, width: int) -> Chain:
    layer = model.layers[0]
    places = []
    for item in model.inputs:
        places.append(item.attribute if isinstance(item, AttributeInput) else width)
        width += isinstance(item, IndicatorInput)
    rows = []
    for weights in layer.weight.exact:
        row = [_ZERO] * width
        for place, weight in zip(places, weights, strict=True):
            row[place] += weight
        rows.append(row)
    identity = [[Fraction(int(i == j)) for j in range(model.score_count)] for i in range(model.score_count)]
    return chained(Affine(rows, layer.bias.exact.tolist(), width), model.layers, identity, [_ZERO] * model.score_count)


def greatest(ends: Sequence[tuple[Fraction | None, Fraction | None]]) -> NDArray[np.float64]:
    """How large in size each number can be, as float64 from above; infinite where it is unbounded."""
    return np.array(
        [
            np.inf if low is None or high is None else max(float_above(abs(low)), float_above(abs(high)))
            for low, high in ends
        ],
        dtype=np.float64,
    )


def pair_query(problem: Problem, chain: Chain) -> PairQuery | None:
    """The query of a question; None where nobody is left to compare."""
    split = cases(problem)
    if not split:
        return None
    region = whole_region(problem.domain, pair_of(problem))
    space = Space(problem, region.a, region.b, _input, _flags(problem))
    assignments = _assignments(space, split)
    further = conditions(space, *_bounds(space), *assignments, *_relaxed(space), apart=not assignments)
    if NEVER in further:
        return None
    errors = {who: chain.errors(greatest(_ends(space, who))).tolist() for who in "ab"}
    broken = any_of(
        all_of(_met(atom, errors) for atom in atoms) for atoms in dict.fromkeys(case.atoms for case in split)
    )
    width = len(problem.domain.attributes)
    equal = [_pair_of_inputs(index) for index, same in enumerate(region.shared) if same]
    equal += [_pair_of_inputs(width + place) for place in _shared_flags(problem, region.shared)]
    return PairQuery(tuple(equal), further, broken)


def _variable(who: str, index: int) -> str:
    return f"{_INPUTS[who]}[0,{index}]"


def _input(who: str, index: int) -> Line:
    return Line(((_variable(who, index), _ONE),))


def _pair_of_inputs(index: int) -> tuple[str, str]:
    return _variable("a", index), _variable("b", index)


def _indicators(problem: Problem) -> list[tuple[int, IndicatorInput]]:
    """The model's indicators with their positions among its inputs, in the order of the network's inputs."""
    return [(at, item) for at, item in enumerate(problem.model.inputs) if isinstance(item, IndicatorInput)]


def _flags(problem: Problem) -> dict[tuple[str, int], Line]:
    width = len(problem.domain.attributes)
    return {
        (who, position): _input(who, width + place)
        for place, (position, _) in enumerate(_indicators(problem))
        for who in "ab"
    }


def _shared_flags(problem: Problem, shared: Sequence[bool]) -> Iterator[int]:
    alike = reads_only(problem.model.inputs, shared)
    for place, (position, _) in enumerate(_indicators(problem)):
        if alike[position]:
            yield place


def _ends(space: Space, who: str) -> list[tuple[Fraction | None, Fraction | None]]:
    """The box of one individual's inputs."""
    ends = [(values.low, values.high) for values in space.sets(who)]
    for _, item in _indicators(space.problem):
        truth = decided(item.predicate, space.sets(who))
        ends.append((_ZERO, _ONE) if truth is None else (Fraction(truth), Fraction(truth)))
    return ends


def _bounds(space: Space) -> Iterator[Formula]:
    for who in "ab":
        for index, (low, high) in enumerate(_ends(space, who)):
            if low is not None:
                yield above(_input(who, index), low)
            if high is not None:
                yield below(_input(who, index), high)


def _assignments(space: Space, split: Sequence[Case]) -> list[Formula]:
    """The comparable values of the differing attributes, where the cases list them; otherwise nothing."""
    differ = pair_of(space.problem).differ
    listed = dict.fromkeys(tuple((case.region.a[i], case.region.b[i]) for i in differ) for case in split)
    if any(values.count != 1 for assignment in listed for both in assignment for values in both):
        return []
    return [
        any_of(
            all_of(
                bound
                for index, both in zip(differ, assignment, strict=True)
                for who, values in zip("ab", both, strict=True)
                for bound in _exactly(_input(who, index), values)
            )
            for assignment in listed
        )
    ]


def _exactly(line: Line, values: ValueSet) -> Iterator[Formula]:
    assert values.low is not None
    yield above(line, values.low)
    yield below(line, values.low)


def _relaxed(space: Space) -> Iterator[Formula]:
    """What relaxed values may be apart: whole numbers where the attribute's are."""
    for relaxation in pair_of(space.problem).relax:
        if relaxation.by is not None:
            index = relaxation.attribute
            real = isinstance(space.problem.domain.attributes[index].type, Real)
            by = relaxation.by if real else Fraction(floor(relaxation.by))
            gap = _input("b", index) + _input("a", index).scaled(-_ONE)
            yield above(gap, -by)
            yield below(gap, by)


def _met(atom: Atom, errors: dict[str, list[float]]) -> Formula:
    """The atom about the stored network's scores, closed, and wider by what storing changed."""
    terms: dict[str, Fraction] = {}
    slack = _ZERO
    for who, factors in (("a", atom.a), ("b", atom.b)):
        for index, factor in enumerate(factors):
            terms[f"{_OUTPUTS[who]}[0,{index}]"] = factor
            if factor:
                slack += abs(factor) * Fraction(errors[who][index])
    return above(Line.of(terms, atom.constant), -slack)
