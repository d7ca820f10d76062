"""From a spec to a table of violating pairs: which question, the hunt, and how far the finds lie apart."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.hunt import Caught, Ending, hunt
from fairdsl.backends.search.judge import Judged
from fairdsl.backends.search.strategies import STRATEGIES
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.hunting.errors import no_question
from fairdsl.hunting.table import Column, check_output, columns_of, write_table
from fairdsl.ir.domain import Domain, Integer, Point, Real
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.evaluate import points_of
from fairdsl.plan.choices import check_properties
from fairdsl.plan.errors import unknown_choice
from fairdsl.replay import spread
from fairdsl.semantics import CheckedSpec, front_end

__all__ = ["Example", "Found", "search_spec"]

#: Pairs of finds whose distance is taken for the spread; and pairs that a report shows.
_SPREAD, _SHOWN = 4000, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Two individuals, and the decisions of the model in exact arithmetic (negative: open)."""

    a: Point
    b: Point
    decisions: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search came to.

    ``count`` pairs, each unit once (docs/search.md), all of them in ``columns`` as the file has them; ``gaps`` units
    that violate in one arithmetic only, with ``gap`` as an example. ``shown`` are some finds, far from each other.
    ``apart`` is the mean distance of two finds, from 0 to 1 (None: fewer than two, or nothing
    that has a distance). ``tried`` units and ``evaluated`` individuals; ``sample`` units of the uniform sample that
    a saturated search ended with; ``waiting`` finds whose neighbours were not tried.
    """

    spec: str
    property: str
    demand: str
    model: str
    strategy: str
    seed: int
    count: int
    by_strategy: Mapping[str, int]
    gaps: int
    gap: Example | None
    shown: tuple[Example, ...]
    domain: Domain
    outcomes: tuple[str, ...]
    varying: tuple[int, ...]
    columns: tuple[Column, ...]
    apart: float | None
    ending: Ending
    tried: int
    evaluated: int
    sample: int
    waiting: int
    seconds: float
    output: Path | None
    warnings: tuple[Diagnostic, ...]

    def rows(self) -> list[dict[str, object]]:
        """The finds as the file has them, one mapping from column to value each."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.cells for c in self.columns), strict=True)]


def search_spec(
    path: str,
    *,
    property: str | None,  # noqa: A002 - the word of the language
    models: Mapping[str, str],
    count: int | None,
    timeout: float,
    seed: int,
    strategy: str,
    output: str | None,
    observer: Observer,
) -> Found:
    """Search for ``count`` violating pairs (None: until nothing new is found), and write them where asked.

    Raises DiagnosticError for mistakes in the spec, its files, the names given, and the output.
    """
    if strategy not in STRATEGIES:
        raise DiagnosticError(unknown_choice("strategy", strategy, tuple(STRATEGIES)))
    if output is not None:
        check_output(output)
    spec, findings = front_end(path)
    chosen = _chosen(spec, path, property)
    elaborated = elaborate(spec.restricted_to((chosen,)), models)
    item = _demand(elaborated.demands)
    problem, pair = _problem(item)
    began = time.monotonic()
    caught = hunt(
        problem,
        pair,
        evaluator_of(problem.model),
        STRATEGIES[strategy],
        count=count,
        budget=Budget.of(timeout, seed=seed),
        observer=observer,
    )
    columns = columns_of(caught, problem.domain, pair, item.outcomes)
    if output is not None:
        write_table(columns, output)
    return Found(
        spec=path,
        property=chosen,
        demand=item.demand.text,
        model=item.property.model,
        strategy=strategy,
        seed=seed,
        count=len(caught.pairs),
        by_strategy=caught.by_strategy,
        gaps=caught.gaps,
        gap=None if caught.gap is None else _examples(caught.gap)[0],
        shown=_shown(problem.domain, caught.pairs),
        domain=problem.domain,
        outcomes=item.outcomes,
        varying=tuple(sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)})),
        columns=columns,
        apart=_apart(caught, problem.domain, pair, seed),
        ending=caught.ending,
        tried=caught.tried,
        evaluated=caught.evaluated,
        sample=caught.sample,
        waiting=caught.frontier,
        seconds=time.monotonic() - began,
        output=None if output is None else Path(output),
        warnings=tuple(dict.fromkeys([*findings, *elaborated.warnings])),
    )


def _chosen(spec: CheckedSpec, path: str, asked: str | None) -> str:
    """The property to search; DiagnosticError where it is not one about pairs."""
    if asked is not None:
        check_properties((asked,), spec)
    pairs = [checked.name for checked in spec.properties if isinstance(checked.demands[0].question, Pair)]
    if asked in pairs:
        return asked
    if asked is None and len(pairs) == 1:
        return pairs[0]
    raise DiagnosticError(no_question(path, pairs, asked))


def _demand(demands: tuple[Elaborated, ...]) -> Elaborated:
    """The first demand that holds or does not, else the first: shares are of the same pairs."""
    item = next((item for item in demands if item.demand.quantity is Quantity.HOLDS), demands[0])
    if item.refusal is not None:
        raise DiagnosticError(item.refusal)
    return item


def _problem(item: Elaborated) -> tuple[Problem, Pair]:
    # The demand's own question: a share `under` rows is one of the problem's, and its pairs are the same.
    question = item.demand.question
    assert isinstance(question, Pair), "the property was chosen for its pairs"
    return replace(item.problem, question=question, quantity=Quantity.HOLDS, population=None), question


def _shown(domain: Domain, pairs: Judged) -> tuple[Example, ...]:
    """A few finds far from each other."""
    chosen = spread(pairs.a[:_SPREAD], domain, _SHOWN)
    return _examples(pairs.at(np.array(chosen, dtype=np.int64)))


def _examples(pairs: Judged) -> tuple[Example, ...]:
    rows = zip(points_of(pairs.a), points_of(pairs.b), pairs.decisions.tolist(), strict=True)
    return tuple(Example(a=a, b=b, decisions=(of_a, of_b)) for a, b, (of_a, of_b) in rows)


def _apart(caught: Caught, domain: Domain, pair: Pair, seed: int) -> float | None:
    """The mean over attributes that do not differ of the distance of two finds, and over pairs of finds.

    Of numbers it is a part of the range (of an unbounded one, of the finds' own range), of names 0 or 1.
    """
    shared = [index for index in range(len(domain.attributes)) if index not in pair.differ]
    points = caught.pairs.a[:, shared]
    if len(points) < 2 or not shared:
        return None
    rng = np.random.default_rng(seed)
    one = rng.integers(0, len(points), _SPREAD)
    # Never the find itself: a step of at least one, around the end.
    other = (one + rng.integers(1, len(points), _SPREAD)) % len(points)
    distances = np.abs(points[one] - points[other])
    lengths = np.array([_length(domain, index) for index in shared])
    lengths = np.where(np.isfinite(lengths), lengths, np.ptp(points, axis=0))
    ordered = np.array([isinstance(domain.attributes[index].type, Integer | Real) for index in shared])
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.where(ordered, np.where(lengths > 0, distances / lengths, 0.0), distances > 0)
    return float(parts.mean())


def _length(domain: Domain, index: int) -> float:
    low, high = domain.attributes[index].bounds
    return np.inf if low is None or high is None else float(high - low)
