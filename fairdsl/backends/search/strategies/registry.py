"""Every strategy by its name: one line a strategy, and behind them those that other packages bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from fairdsl.backends.brought import Brought, brought
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.slopes import Slopes
from fairdsl.backends.search.strategies.aequitas import fully_directed, random_walk, semi_directed
from fairdsl.backends.search.strategies.climbing import climbing
from fairdsl.backends.search.strategies.gradient import gradient
from fairdsl.backends.search.strategies.neighbours import neighbours, resample, uniform
from fairdsl.backends.search.strategies.outward import expansion, surroundings
from fairdsl.backends.search.strategies.portfolio import portfolio
from fairdsl.backends.search.strategies.zero_order import zero_order
from fairdsl.backends.search.strategy import Proposal, Proposing, Strategy
from fairdsl.ir.problem import Problem

#: The group of entry points by which other packages bring strategies.
_GROUP = "fairdsl.strategies"


def _smooth(problem: Problem) -> bool:
    return Slopes.known(problem.model)


def _layered(problem: Problem) -> bool:
    return problem.model.opaque is None


def _without_slopes(problem: Problem) -> bool:
    return not Slopes.known(problem.model)


def _frontier(ground: Ground) -> bool:
    return ground.pool.waiting > 0


def _some(ground: Ground) -> bool:
    return len(ground.pool) > 0


_PARTS = (
    Strategy(name="uniform", about="uniform draws in batches", run=uniform, steady=True),
    Strategy(
        name="neighbours", about="the neighbours of every counterexample", run=neighbours, ready=_frontier, expands=True
    ),
    Strategy(name="resample", about="one attribute of a counterexample drawn anew", run=resample, ready=_some),
    Strategy(
        name="gradient",
        about="one step onto a network's decision boundary",
        run=gradient,
        possible=_layered,
        fits=_smooth,
    ),
    Strategy(name="zero-order", about="the same by differences of scores", run=zero_order, fits=_without_slopes),
    Strategy(name="climb", about="descent and bisection, for rare violations", run=climbing),
)


_OUTWARD = (
    Strategy(name="surroundings", about="what is beside each given row, then farther", run=surroundings),
    Strategy(
        name="expansion",
        about="what is beside the nearest counterexamples",
        run=expansion,
        ready=_frontier,
        expands=True,
    ),
)


def _portfolio(ground: Ground) -> Proposing:
    return portfolio(ground, _PARTS)


def _outward(ground: Ground) -> Proposing:
    return portfolio(ground, _OUTWARD)


_ALL = (
    Strategy(name="portfolio", about="effort goes to what pays: the default", run=_portfolio, expands=True),
    *_PARTS,
    Strategy(name="outward", about="from given rows, the nearest counterexamples first", run=_outward, expands=True),
    Strategy(name="random", about="Aequitas's random walk", run=random_walk),
    Strategy(name="semi-directed", about="Aequitas's walk that learns directions", run=semi_directed),
    Strategy(name="fully-directed", about="Aequitas's walk that learns attributes, too", run=fully_directed),
)

#: Strategies by name, the default first.
STRATEGIES: Mapping[str, Strategy] = MappingProxyType({strategy.name: strategy for strategy in _ALL})


def strategies() -> Mapping[str, Strategy | Brought]:
    """Ours, and behind them those of other packages, which are not loaded yet."""
    return {**STRATEGIES, **{one.name: one for one in brought(_GROUP, STRATEGIES)}}


def loaded(one: Strategy | Brought) -> Strategy:
    """The strategy itself. DiagnosticError (E0628) for one of another package that cannot be had."""
    return one if isinstance(one, Strategy) else _outside(one)


def _outside(one: Brought) -> Strategy:
    """A strategy of another package, which can look in the wrong places and do no other harm.

    What it proposes is moved to the nearest candidates of the space: what is counted as tried has to be in it.
    """
    with one.named_when_it_fails():
        theirs = one.point.load()
        if not isinstance(theirs, Strategy):
            raise TypeError(f"`{one.point.value}` is not a `fairdsl.backends.search.Strategy`")

    def possible(problem: Problem) -> bool:
        with one.named_when_it_fails():
            return bool(theirs.possible(problem))

    def run(ground: Ground) -> Proposing:
        columns, by = ground.space.columns, f"{one.name} ({one.package})"
        with one.named_when_it_fails():
            proposing = theirs.run(ground)
            proposed = next(proposing)
            while True:
                rows = np.asarray(proposed.rows, dtype=np.float64)
                if rows.ndim != 2 or rows.shape[1] != len(columns) or np.isnan(rows).any():
                    raise ValueError(f"it proposes {rows.shape} numbers, not [n, {len(columns)}] of them")
                settled = [column.settle(values) for column, values in zip(columns, rows.T, strict=True)]
                tried = yield Proposal(by, np.column_stack(settled) if settled else rows, until=proposed.until)
                proposed = proposing.send(tried)

    return replace(theirs, name=one.name, run=run, possible=possible, expands=False, steady=False)
