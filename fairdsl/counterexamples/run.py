"""From a spec to a table of violating pairs: which question, the search, and what is said of the results.

Which columns the table of counterexamples has.

They are the attributes of a, then ``b.NAME`` for those in which b may be another, the two decisions, the two
scores (one each, or one for each outcome), what was asked for beside (``score_gap`` and ``bits``, ``distance`` and
``nearest_row``, ``representative``), and which strategy found the pair. Names of attributes hold no dot; where one of
them is the name of such a column, or ``decision`` or ``score``, the column's own name begins with ``found.``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.search import Ending, Judged, SearchResult, evaluator_of, falsify, loaded, strategies
from fairdsl.clock import Meter, metered, phase
from fairdsl.counterexamples.errors import no_question, no_representatives, strategy_needs_formula
from fairdsl.counterexamples.found import Found, Representative
from fairdsl.counterexamples.near import NearSummary, rows_near
from fairdsl.counterexamples.representatives import Stand, representatives
from fairdsl.counterexamples.results import Examples, Results
from fairdsl.counterexamples.table import Coded, Column, Numbers, check_output, write_table
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import Elaborated, Function, elaborate
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.options import Options, Run
from fairdsl.plan.choices import check_properties
from fairdsl.plan.errors import unknown_choice
from fairdsl.report.ran import EndedBy, ran_of
from fairdsl.semantics import CheckedSpec, front_end

BoolArray = NDArray[np.bool_]


def columns_of(
    results: Results, domain: Domain, pair: Pair, outcomes: Sequence[str], boxes: Sequence[BoolArray]
) -> tuple[Column, ...]:
    """The table of the counterexamples; ``boxes`` say which of them lie in the box of each representative."""
    taken = {attribute.name for attribute in domain.attributes}
    columns = [*_individuals(results, domain, pair), *_answers(results, outcomes, taken)]
    columns += _asked_for(results, taken, boxes)
    return (*columns, Coded("found.by", results.strategies, results.by))


def _individuals(results: Results, domain: Domain, pair: Pair) -> Iterator[Column]:
    a, b = results.written
    for index, attribute in enumerate(domain.attributes):
        yield Coded.of_attribute(attribute.name, attribute, a[:, index])
    for index in sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}):
        attribute = domain.attributes[index]
        yield Coded.of_attribute(f"b.{attribute.name}", attribute, b[:, index])


def _answers(results: Results, outcomes: Sequence[str], taken: set[str]) -> Iterator[Column]:
    def named(who: str, name: str) -> str:
        return f"found.{who}.{name}" if name in taken else f"{who}.{name}"

    pairs = results.pairs
    # An open decision is the last of the names.
    names = (*outcomes, "open")
    for place, who in enumerate("ab"):
        yield Coded(named(who, "decision"), names, pairs.decisions[:, place] % len(names))
    single = pairs.scores.shape[2] == 1
    for place, who in enumerate("ab"):
        for score in range(pairs.scores.shape[2]):
            name = named(who, "score") if single else f"{who}.score.{outcomes[score]}"
            yield Numbers(name, pairs.scores[:, place, score])


def _asked_for(results: Results, taken: set[str], boxes: Sequence[BoolArray]) -> Iterator[Column]:
    def named(name: str) -> str:
        return f"found.{name}" if name in taken else name

    if results.severity is not None:
        yield Numbers(named("score_gap"), results.severity.gaps)
        yield Numbers(named("bits"), results.severity.bits)
    if results.near is not None:
        yield Numbers(named("distance"), results.near.distances)
        numbers, places = np.unique(results.near.rows, return_inverse=True)
        yield Coded(named("nearest_row"), tuple(numbers.tolist()), places.ravel())
    if boxes:
        # Boxes do not overlap; the first of the values is that of a pair in none of them.
        places = np.zeros(len(results.pairs), dtype=np.int64)
        for number, inside in enumerate(boxes, 1):
            places[inside] = number
        yield Coded(named("representative"), (None, *range(1, len(boxes) + 1)), places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is searched for and how, beside the spec and its files.

    Of the property ``about`` (None: the one there is) ``count`` pairs (None: until nothing new is found), within the
    limits, from the seed and with the parameters of ``options``. ``strategy`` None: ``outward`` near rows, else
    ``portfolio``. ``near``: the path of a CSV file, or the name of a distribution, to stay near to.
    ``representatives``: how many. The table has ``severity`` columns if asked for, or if they ``rank`` it: ``bits``,
    ``gap`` or ``distance``.
    """

    about: str | None
    count: int | None
    options: Options
    strategy: str | None
    near: str | None
    representatives: int
    severity: bool
    rank: str | None
    output: str | None

    def __post_init__(self) -> None:
        if self.rank == "distance" and self.near is None:
            raise ValueError("`rank` by distance needs rows to be `near` to")

    @property
    def run(self) -> Run:
        """Its limits and its seed."""
        return self.options.run

    @property
    def order(self) -> str | None:
        """What the pairs are ordered by: near rows by their distance, unless something else is asked for."""
        return self.rank or (None if self.near is None else "distance")


#: Pairs of counterexamples whose distance is taken for the spread.
_DISTANCES = 4000
#: What ended a run, by what ended its search; the others end by themselves.
_ENDED = dict.fromkeys(Ending, EndedBy.DONE) | {
    Ending.TIME: EndedBy.TIMEOUT,
    Ending.EFFORT: EndedBy.EFFORT,
    Ending.INTERRUPTED: EndedBy.USER,
}
#: Units for what follows a search of some effort: its parts have limits of their own, which then are of effort, too.
_UNLIMITED = 10**12


def search_spec(
    path: str,
    request: Request,
    *,
    models: Mapping[str, str],
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str],
    callables: Mapping[str, Function] | None = None,
    observer: Observer,
) -> Found:
    """Search for violating pairs, and write them where asked; ``callables`` are models that are Python functions.

    Raises DiagnosticError for mistakes in the spec, its files, the names given, and the output.
    """
    named = request.strategy or ("portfolio" if request.near is None else "outward")
    if named not in (known := strategies()):
        raise DiagnosticError(unknown_choice("strategy", named, tuple(known)))
    strategy = loaded(known[named])
    if request.output is not None:
        check_output(request.output)
    budget = Budget.under(request.options)
    deadline, seed = budget.deadline, request.run.seed
    with phase("reading the spec", deadline):
        spec, findings = front_end(path, let)
    chosen = _chosen(spec, path, request.about)
    with phase("reading models and data", deadline):
        elaborated = elaborate(spec.restricted_to((chosen,)), models, data=data, callables=callables)
    item = _demand(elaborated.demands)
    problem, pair = _problem(item)
    if not strategy.possible(problem):
        raise DiagnosticError(strategy_needs_formula(strategy.name, item.property.model, problem.model.span))
    if request.representatives and pair.relax:
        raise DiagnosticError(no_representatives(pair.relax[0].span))
    with phase("reading the rows", deadline):
        table = None if request.near is None else rows_near(spec, request.near, data, problem.domain)
    began = time.monotonic()
    meter = Meter(request.run.effort, deadline.at)
    with metered(meter):
        result = falsify(
            problem,
            pair,
            evaluator_of(problem.model),
            strategy,
            count=request.count,
            budget=budget.of_effort,
            observer=observer,
            rows=None if table is None else table.values.floats,
        )
    results = Results.of(problem, pair, result, table, severe=request.severity, rank=request.order)
    with metered(Meter(_UNLIMITED if request.run.effort is not None else None)):
        stands = _stands(problem, pair, results.pairs, request, observer)
    columns = columns_of(results, problem.domain, pair, item.outcomes, [stand.inside for stand in stands])
    if request.output is not None:
        write_table(columns, request.output)
    examples = Examples(problem, pair, results, item.outcomes)
    return Found(
        spec=path,
        property=chosen,
        demand=item.demand.text,
        model=item.property.model,
        strategy=strategy.name,
        seed=seed,
        count=len(result.pairs),
        by_strategy=result.by_strategy,
        numeric_gaps=result.gaps,
        gap=None if result.gap is None else examples.of(result.gap, None)[0],
        pairs=examples.shown(by_rank=request.order is not None),
        varying=tuple(problem.domain.attributes[index].name for index in _varying(pair)),
        columns=columns,
        rank=request.order,
        spread=_spread(result, problem.domain, pair, seed),
        ending=result.ending,
        tried=result.tried,
        evaluated=result.evaluated,
        ran=result.ran,
        bounded=result.bounded,
        sample=result.sample,
        waiting=result.frontier,
        near=None if table is None or result.near is None else NearSummary.of(table, result.near),
        representatives=tuple(_representative(stand, examples, problem.domain) for stand in stands),
        run=ran_of(budget.options, meter, _ENDED[result.ending]),
        seconds=round(time.monotonic() - began, 3),
        output=None if request.output is None else Path(request.output),
        diagnostics=tuple(dict.fromkeys([*findings, *elaborated.warnings])),
    )


def _varying(pair: Pair) -> list[int]:
    """The attributes in which the individuals of a pair may differ."""
    return sorted({*pair.differ, *(relaxation.attribute for relaxation in pair.relax)})


def _stands(problem: Problem, pair: Pair, pairs: Judged, request: Request, observer: Observer) -> list[Stand]:
    if not request.representatives:
        return []
    return representatives(problem, pair, pairs, request.representatives, request.run.seed, observer)


def _representative(stand: Stand, examples: Examples, domain: Domain) -> Representative:
    return Representative(
        pair=examples.at([stand.pair])[0],
        box=dict(side.named(domain) for side in stand.sides),
        found=int(stand.inside.sum()),
        individuals=stand.individuals,
        bounded=stand.bounded,
        low=stand.low,
        high=stand.high,
        units=stand.units,
        how=stand.how,
        confidence=stand.confidence,
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
    formulas = [checked.name for checked in spec.properties if isinstance(checked.demands[0].question, Demanded)]
    raise DiagnosticError(no_question(path, pairs, asked, formula=asked in formulas))


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


def _spread(result: SearchResult, domain: Domain, pair: Pair, seed: int) -> float | None:
    """The mean over attributes that do not differ of the distance of two results, and over pairs of results.

    Of numbers it is a part of the range (of an unbounded one, of the counterexamples' own range), of names 0 or 1.
    """
    shared = [index for index in range(len(domain.attributes)) if index not in pair.differ]
    points = result.pairs.a[:, shared]
    if len(points) < 2 or not shared:
        return None
    rng = np.random.default_rng(seed)
    one = rng.integers(0, len(points), _DISTANCES)
    # Never the find itself: a step of at least one, around the end.
    other = (one + rng.integers(1, len(points), _DISTANCES)) % len(points)
    distances = np.abs(points[one] - points[other])
    lengths = np.array([_length(domain, index) for index in shared])
    lengths = np.where(np.isfinite(lengths), lengths, np.ptp(points, axis=0))
    ordered = np.array([isinstance(domain.attributes[index].type, Integer | Real) for index in shared])
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.where(ordered, np.where(lengths > 0, distances / lengths, 0.0), distances > 0)
    return round(float(parts.mean()), 6)


def _length(domain: Domain, index: int) -> float:
    low, high = domain.attributes[index].bounds
    return np.inf if low is None or high is None else float(high - low)
