"""Every strategy by its name: one line a strategy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.slopes import Slopes
from fairdsl.backends.search.strategies.climbing import climbing
from fairdsl.backends.search.strategies.fully_directed import fully_directed
from fairdsl.backends.search.strategies.gradient import gradient
from fairdsl.backends.search.strategies.neighbours import neighbours
from fairdsl.backends.search.strategies.outward import expansion, surroundings
from fairdsl.backends.search.strategies.portfolio import portfolio
from fairdsl.backends.search.strategies.random_walk import random_walk
from fairdsl.backends.search.strategies.resample import resample
from fairdsl.backends.search.strategies.semi_directed import semi_directed
from fairdsl.backends.search.strategies.uniform import uniform
from fairdsl.backends.search.strategies.zero_order import zero_order
from fairdsl.backends.search.strategy import Proposing, Strategy
from fairdsl.ir.problem import Problem

__all__ = ["STRATEGIES"]


def _smooth(problem: Problem) -> bool:
    return Slopes.known(problem.model)


def _layered(problem: Problem) -> bool:
    return problem.model.opaque is None


def _without_slopes(problem: Problem) -> bool:
    return not Slopes.known(problem.model)


def _frontier(ground: Ground) -> bool:
    return ground.finds.waiting > 0


def _some(ground: Ground) -> bool:
    return len(ground.finds) > 0


_PARTS = (
    Strategy(name="uniform", about="uniform draws in batches", run=uniform, steady=True),
    Strategy(name="neighbours", about="the neighbours of every find", run=neighbours, ready=_frontier, expands=True),
    Strategy(name="resample", about="one attribute of a find drawn anew", run=resample, ready=_some),
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
    Strategy(name="expansion", about="what is beside the nearest finds", run=expansion, ready=_frontier, expands=True),
)


def _portfolio(ground: Ground) -> Proposing:
    return portfolio(ground, _PARTS)


def _outward(ground: Ground) -> Proposing:
    return portfolio(ground, _OUTWARD)


_ALL = (
    Strategy(name="portfolio", about="effort goes to what pays: the default", run=_portfolio, expands=True),
    *_PARTS,
    Strategy(name="outward", about="from given rows, the nearest finds first", run=_outward, expands=True),
    Strategy(name="random", about="Aequitas's random walk, one individual at a time", run=random_walk),
    Strategy(name="semi-directed", about="Aequitas's walk that learns directions", run=semi_directed),
    Strategy(name="fully-directed", about="Aequitas's walk that learns attributes, too", run=fully_directed),
)

#: Strategies by name, the default first.
STRATEGIES: Mapping[str, Strategy] = MappingProxyType({strategy.name: strategy for strategy in _ALL})
