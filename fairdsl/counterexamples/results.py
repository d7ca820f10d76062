"""The counterexamples of a search in the order in which they are written, and some of them to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search import Judge, Judged, Near, SearchResult, Severity, Status, evaluator_of, severity
from fairdsl.counterexamples.found import Example
from fairdsl.counterexamples.table import nine_digits
from fairdsl.data.table import TableInside
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.evaluate import points_of
from fairdsl.replay import as_written, as_written_rows, spread
from fairdsl.verdict import Individual

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Results among which some far from each other are looked for, and counterexamples that are shown.
_SPREAD, _SHOWN = 4000, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Found pairs; ``by`` are indices into ``strategies``, ``near.rows`` numbers of rows in their file, from 1.

    ``written`` are both individuals as the table has them.
    """

    pairs: Judged
    written: tuple[FloatArray, FloatArray]
    by: IntArray
    strategies: tuple[str, ...]
    severity: Severity | None
    near: Near | None

    @classmethod
    def of(
        cls,
        problem: Problem,
        pair: Pair,
        result: SearchResult,
        table: TableInside | None,
        *,
        severe: bool,
        rank: str | None,
    ) -> Results:
        """What was found, ranked; with its severity where ``severe``, or where it is ranked by that."""
        pairs, near, found = result.pairs, result.near, None
        if severe or rank in ("bits", "gap"):
            found = severity(problem, pair, evaluator_of(problem.model), pairs.a, pairs.b)
        order = _order(rank, found, near, len(pairs))
        pairs = pairs.at(order)
        return cls(
            pairs=pairs,
            written=_written(problem, pair, pairs),
            by=result.by[order].astype(np.int64),
            strategies=result.strategies,
            severity=None if found is None else Severity(found.bits[order], found.gaps[order]),
            near=None
            if near is None or table is None
            else Near(near.distances[order], table.numbers[near.rows[order]]),
        )


def _written(problem: Problem, pair: Pair, pairs: Judged) -> tuple[FloatArray, FloatArray]:
    """Float32 numbers as the shortest decimals that are read as them, of pairs that are decided so once more."""
    a, b = (as_written_rows(problem, people) for people in (pairs.a, pairs.b))
    moved = np.flatnonzero((a != pairs.a).any(axis=1) | (b != pairs.b).any(axis=1))
    again = Judge(problem, pair, evaluator_of(problem.model)).replay(a[moved], b[moved])
    same = (again.status == Status.FOUND) & (again.decisions == pairs.decisions[moved]).all(axis=1)
    kept = moved[~same]
    a[kept], b[kept] = pairs.a[kept], pairs.b[kept]
    return a, b


def _order(rank: str | None, found: Severity | None, near: Near | None, count: int) -> IntArray:
    """The most severe first, or the nearest; what is not known comes last, and what is alike as it was found."""
    keys: list[FloatArray] = []
    if found is not None:
        bits, gaps = (-np.nan_to_num(values, nan=-np.inf) for values in (found.bits, found.gaps))
        keys = [bits, gaps] if rank == "gap" else [gaps, bits]  # the last key comes first
    if rank == "distance" and near is not None:
        keys.append(near.distances)
    return np.arange(count) if rank is None else np.lexsort(keys)


class _Two(TypedDict):
    """Whom an example is about."""

    a: Individual
    b: Individual
    decisions: tuple[str | None, str | None]


class Examples:
    """Some of the results, with all that is known of each."""

    def __init__(self, problem: Problem, pair: Pair, results: Results, outcomes: Sequence[str]) -> None:
        self._problem, self._pair, self._results, self._outcomes = problem, pair, results, tuple(outcomes)
        self._evaluator = evaluator_of(problem.model)

    def shown(self, *, by_rank: bool) -> tuple[Example, ...]:
        """The first few, or a few far from each other."""
        pairs = self._results.pairs
        if by_rank:
            return self.at(range(min(_SHOWN, len(pairs))))
        return self.at(spread(pairs.a[:_SPREAD], self._problem.domain, _SHOWN))

    def at(self, rows: Sequence[int]) -> tuple[Example, ...]:
        """The results in these rows."""
        chosen, near = np.array(rows, dtype=np.int64), self._results.near
        return self.of(
            self._results.pairs.at(chosen), None if near is None else Near(near.distances[chosen], near.rows[chosen])
        )

    def of(self, pairs: Judged, near: Near | None) -> tuple[Example, ...]:
        """Any pairs."""
        severe = severity(self._problem, self._pair, self._evaluator, pairs.a, pairs.b)
        return tuple(
            Example(
                **self._two(a, b, (self._outcome(of_a), self._outcome(of_b))),
                bits=_known(severe.bits[place]),
                score_gap=_known(severe.gaps[place]),
                distance=None if near is None else nine_digits(near.distances[place]),
                nearest_row=None if near is None else int(near.rows[place]),
            )
            for place, (a, b, (of_a, of_b)) in enumerate(
                zip(points_of(pairs.a), points_of(pairs.b), pairs.decisions.tolist(), strict=True)
            )
        )

    def _two(self, a: Point, b: Point, decisions: tuple[str | None, str | None]) -> _Two:
        """The two with numbers as tables write them, where those are decided as these are."""
        again = as_written(self._problem, a, b)
        if again is not None and (again.replay.decision_a, again.replay.decision_b) == decisions:
            return {"a": again.a, "b": again.b, "decisions": decisions}
        one, other = (Individual.of(self._problem.domain, point) for point in (a, b))
        return {"a": one, "b": other, "decisions": decisions}

    def _outcome(self, decision: int) -> str | None:
        """Its name; None where it is open."""
        return self._outcomes[decision] if decision >= 0 else None


def _known(number: float) -> float | None:
    return None if isnan(number) else nine_digits(number)
