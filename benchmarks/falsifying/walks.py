"""Aequitas's three strategies on the shared models, and what of their difference is due to steering.

The walks are those of ``fairdsl.backends.search.strategies``. Here many of them go in lockstep: what all of them
propose is tried in one batch. What a walk does depends on its own seed alone. With one seed all strategies draw the
same starts in their first global phase, so that differences seed by seed are differences of their local phases. What
violates is replayed as in any search.

Success is how many different units were found of those tried: it does not depend on how fast anything is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.evaluators import Evaluator, evaluator_of
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.judge import Judge, Status
from fairdsl.backends.search.strategies.aequitas import Attributes, Directions, Undirected, walk
from fairdsl.backends.search.strategy import Tried
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.options.commands import Search
from falsifying.effort import searched

__all__ = ["PUBLISHED", "VARIANTS", "Steered", "Walked", "guided", "walked"]

FloatArray = NDArray[np.float64]
#: Seconds that nothing here comes near to.
_LONG = 3600.0
#: Rows that a walk proposes at once, as many at most as in a search.
_TOGETHER = 1024


class AttributesAlone(Attributes):
    """Attributes are learnt, directions are not."""

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward the attribute."""
        super().learn(place, down, discriminatory)
        self.down_probability[place] = 0.5


class Reversed(Attributes):
    """The reward of attributes and directions turned round, as in the authors' script."""

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward what led to nothing."""
        super().learn(place, down, not discriminatory)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """How steps are chosen, and by which parameters."""

    choice: Callable[[int, Search], Undirected]
    options: Search = field(default_factory=Search)


def _set(**values: Any) -> Search:
    return Search(strategy="fully-directed", **values)


_FAST = Fraction(2, 100)
PUBLISHED = ("random", "semi-directed", "fully-directed")
#: The published strategies, then each with one thing changed.
VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "random": Variant(choice=Undirected),
        "semi-directed": Variant(choice=Directions),
        "fully-directed": Variant(choice=Attributes),
        "fully, 2,000 draws": Variant(choice=Attributes, options=_set(draws=2000)),  # as in the authors' script
        "fully, reward reversed": Variant(choice=Reversed),
        "fully, attributes alone": Variant(choice=AttributesAlone),
        "semi, learns 20 times as fast": Variant(choice=Directions, options=_set(delta_v=_FAST)),
        "fully, learns 20 times as fast": Variant(choice=Attributes, options=_set(delta_v=_FAST, delta_pr=_FAST)),
    }
)


@dataclass(frozen=True, kw_only=True)
class Steered:
    """The least and the greatest of what was learnt: chances of stepping down, and of attributes times their number."""

    down: tuple[float, float]
    attribute: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Walked:
    """One walk of so many steps: different units tried and found, in the global phases, and in all."""

    steps: int
    tried: int
    found: int
    drawn: int
    starts: int
    counterexamples: tuple[bytes, ...]
    steered: Steered | None

    @property
    def success(self) -> float:
        """Found of those tried."""
        return self.found / max(1, self.tried)

    @property
    def local(self) -> float:
        """The same in the local phases alone."""
        return (self.found - self.starts) / max(1, self.tried - self.drawn)


class _Walk:
    """A walk of so many steps that waits for what became of those that it proposed last."""

    def __init__(
        self, problem: Problem, pair: Pair, evaluator: Evaluator, variant: Variant, seed: int, steps: int
    ) -> None:
        self._ground = Ground(problem, pair, evaluator, Budget.of(_LONG, variant.options, seed=seed))
        self._ground.batch = _TOGETHER
        self._choice = variant.choice(len(self._ground.free), variant.options)
        self._going = walk("walk", self._ground, lambda *_: self._choice)
        self._proposed = next(self._going)
        self._tried: set[bytes] = set()
        self._found: dict[bytes, None] = {}
        self._steps, self._left = steps, steps
        self._drawn = self._starts = 0

    @property
    def rows(self) -> FloatArray:
        """What is proposed; nothing when all steps are done."""
        return self._proposed.rows[: self._left]

    def hear(self, violating: NDArray[np.bool_]) -> None:
        """What became of the rows; then the next ones."""
        rows, until = self.rows, self._proposed.until
        taken = len(rows) if until is None or len(rows) < len(self._proposed.rows) else until(violating)
        before = len(self._found)
        for row, found in zip(rows[:taken], violating[:taken].tolist(), strict=True):
            key = row.tobytes()
            fresh, new = key not in self._tried, found and key not in self._found
            self._tried.add(key)
            self._drawn += fresh and until is None
            self._starts += new and until is None
            if new:
                self._found[key] = None
        # As in a search, which draws an order for what is found.
        self._ground.pool.add(np.zeros((len(self._found) - before, rows.shape[1])))
        self._left -= taken
        if self._left:
            self._proposed = self._going.send(Tried(violating[:taken], 0))

    def result(self) -> Walked:
        return Walked(
            steps=self._steps,
            tried=len(self._tried),
            found=len(self._found),
            drawn=self._drawn,
            starts=self._starts,
            counterexamples=tuple(self._found),
            steered=_steered(self._choice),
        )


def _steered(choice: Undirected) -> Steered | None:
    if not isinstance(choice, Directions):
        return None
    down, chances = choice.down_probability, choice.probability if isinstance(choice, Attributes) else [1.0]
    return Steered(down=(min(down), max(down)), attribute=(min(chances) * len(chances), max(chances) * len(chances)))


def walked(problem: Problem, names: Sequence[str], seeds: Sequence[int], steps: int) -> dict[str, list[Walked]]:
    """So many steps of each variant with each seed."""
    pair, evaluator = _pair(problem), evaluator_of(problem.model)
    walks = {name: [_Walk(problem, pair, evaluator, VARIANTS[name], seed, steps) for seed in seeds] for name in names}
    everybody = [one for group in walks.values() for one in group]
    trial = _Trial(problem, pair, evaluator)
    while going := [one for one in everybody if len(one.rows)]:
        violating = trial.violating(np.concatenate([one.rows for one in going]))
        ends = np.cumsum([len(one.rows) for one in going])
        for one, found in zip(going, np.split(violating, ends[:-1]), strict=True):
            one.hear(found)
    return {name: [one.result() for one in group] for name, group in walks.items()}


def guided(problem: Problem, strategy: str, seed: int, steps: int) -> float:
    """The success of a search with as many evaluations as so many steps take: the members of each unit."""
    members = Ground(
        problem, _pair(problem), evaluator_of(problem.model), Budget.of(_LONG, seed=seed)
    ).space.touches.shape[1]
    found, _ = searched(problem, strategy, seed, most=steps * members)
    return len(found.pairs) / max(1, found.tried)


def _pair(problem: Problem) -> Pair:
    assert isinstance(problem.question, Pair), "the specs ask about pairs"
    return problem.question


class _Trial:
    """Says which units have a pair that a search would count."""

    def __init__(self, problem: Problem, pair: Pair, evaluator: Evaluator) -> None:
        self._ground = Ground(problem, pair, evaluator, Budget.of(_LONG, seed=0))
        self._judge = Judge(problem, pair, evaluator)

    def violating(self, rows: FloatArray) -> NDArray[np.bool_]:
        found = np.zeros(len(rows), dtype=np.bool_)
        measured = self._ground.measure(rows)
        pairs = self._ground.pairs(measured, self._ground.promising(measured))
        if len(pairs.owners):
            judged = self._judge.replay(pairs.a, pairs.b)
            found[pairs.owners[judged.status == Status.FOUND]] = True
        return found
