"""Aequitas's three strategies on the shared models, and what of their difference is due to steering.

The walks are those of ``fairdsl.backends.search.strategies``, one individual a step. Here many of them go in lockstep:
one step of each is tried in one batch, so that ten thousand steps of a hundred walks take a minute. What a walk does
depends on its own seed alone. With one seed all strategies draw the same starts in their first global phase, so that
differences seed by seed are differences of their local phases. What violates is replayed as in any hunt.

Success is how many different units were found of those tried: it does not depend on how fast anything is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.evaluators import Evaluator, evaluator_of
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.judge import Judge, Status
from fairdsl.backends.search.strategies.aequitas import Choice, walk
from fairdsl.backends.search.strategies.fully_directed import Attributes
from fairdsl.backends.search.strategies.random_walk import Undirected
from fairdsl.backends.search.strategies.semi_directed import Directions
from fairdsl.backends.search.strategy import Tried
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from falsifying.effort import hunted

__all__ = ["PUBLISHED", "VARIANTS", "Steered", "Walked", "guided", "walked"]

FloatArray = NDArray[np.float64]
#: Seconds that nothing here comes near to.
_LONG = 3600.0
#: Draws of a global phase in the authors' script of the fully-directed strategy; in the others it is half of it.
_DRAWN, _DRAWN_FULLY = 1000, 2000


class AttributesAlone(Attributes):
    """Attributes are learnt, directions are not."""

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward the attribute."""
        super().learn(place, down, discriminatory)
        self.down_probability[:] = 0.5


class Reversed(Attributes):
    """The reward of attributes and directions turned round, as in the authors' script."""

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        """Reward what led to nothing."""
        super().learn(place, down, not discriminatory)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """How steps are chosen, and how many are drawn in a global phase."""

    choice: Callable[[int], Choice]
    drawn: int = _DRAWN


PUBLISHED = ("random", "semi-directed", "fully-directed")
#: The published strategies, then each with one thing changed.
VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "random": Variant(choice=Undirected),
        "semi-directed": Variant(choice=Directions),
        "fully-directed": Variant(choice=Attributes),
        "fully, 2,000 draws": Variant(choice=Attributes, drawn=_DRAWN_FULLY),
        "fully, reward reversed": Variant(choice=Reversed),
        "fully, attributes alone": Variant(choice=AttributesAlone),
        "semi, learns 20 times as fast": Variant(choice=lambda count: Directions(count, step=0.02)),
        "fully, learns 20 times as fast": Variant(choice=lambda count: Attributes(count, step=0.02)),
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
    finds: tuple[bytes, ...]
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
    """A walk that waits for what became of its last step."""

    def __init__(self, problem: Problem, pair: Pair, evaluator: Evaluator, variant: Variant, seed: int) -> None:
        self.ground = Ground(problem, pair, evaluator, _budget(seed))
        self._choice = _Watched(variant.choice(len(self.ground.free)))
        self._going = walk("walk", self.ground, self._choice, variant.drawn)
        self.row = next(self._going).rows
        self._tried: set[bytes] = set()
        self._found: dict[bytes, None] = {}
        self._steps = self._drawn = self._starts = 0

    def hear(self, violating: bool) -> None:
        """What became of the row; then the next one."""
        key = self.row.tobytes()
        fresh, new = key not in self._tried, violating and key not in self._found
        self._tried.add(key)
        self._steps += 1
        self._drawn += fresh and self._choice.waiting
        self._starts += new and self._choice.waiting
        if new:
            self._found[key] = None
            self.ground.finds.add(self.row)
        self._choice.waiting = True
        self.row = self._going.send(Tried(np.array([violating]), int(new))).rows

    def result(self) -> Walked:
        return Walked(
            steps=self._steps,
            tried=len(self._tried),
            found=len(self._found),
            drawn=self._drawn,
            starts=self._starts,
            finds=tuple(self._found),
            steered=self._choice.steered,
        )


class _Watched:
    """Passes a choice on, and knows whether a step was chosen since it was last asked."""

    def __init__(self, inner: Choice) -> None:
        self._inner = inner
        self.waiting = True

    def attribute(self, rng: np.random.Generator) -> int:
        self.waiting = False
        return self._inner.attribute(rng)

    def down(self, place: int, rng: np.random.Generator) -> bool:
        return self._inner.down(place, rng)

    def learn(self, place: int, down: bool, discriminatory: bool) -> None:
        self._inner.learn(place, down, discriminatory)

    @property
    def steered(self) -> Steered | None:
        if not isinstance(self._inner, Directions):
            return None
        chances = self._inner.probability if isinstance(self._inner, Attributes) else np.full(1, 1.0)
        return Steered(
            down=(float(self._inner.down_probability.min()), float(self._inner.down_probability.max())),
            attribute=(float(chances.min() * len(chances)), float(chances.max() * len(chances))),
        )


def walked(problem: Problem, names: Sequence[str], seeds: Sequence[int], steps: int) -> dict[str, list[Walked]]:
    """So many steps of each variant with each seed."""
    pair, evaluator = _pair(problem), evaluator_of(problem.model)
    walks = {name: [_Walk(problem, pair, evaluator, VARIANTS[name], seed) for seed in seeds] for name in names}
    everybody = [one for group in walks.values() for one in group]
    trial = _Trial(problem, pair, evaluator)
    for _ in range(steps):
        violating = trial.violating(np.concatenate([one.row for one in everybody]))
        for one, found in zip(everybody, violating.tolist(), strict=True):
            one.hear(found)
    return {name: [one.result() for one in group] for name, group in walks.items()}


def guided(problem: Problem, strategy: str, seed: int, steps: int) -> float:
    """The success of a hunt with as many evaluations as so many steps take: the members of each unit."""
    members = Ground(problem, _pair(problem), evaluator_of(problem.model), _budget(seed)).space.touches.shape[1]
    caught, _ = hunted(problem, strategy, seed, most=steps * members)
    return len(caught.pairs) / max(1, caught.tried)


def _pair(problem: Problem) -> Pair:
    assert isinstance(problem.question, Pair), "the specs ask about pairs"
    return problem.question


def _budget(seed: int) -> Budget:
    return Budget.of(_LONG, seed=seed)


class _Trial:
    """Says which units have a pair that a hunt would count."""

    def __init__(self, problem: Problem, pair: Pair, evaluator: Evaluator) -> None:
        self._ground = Ground(problem, pair, evaluator, _budget(0))
        self._judge = Judge(problem, pair, evaluator)

    def violating(self, rows: FloatArray) -> NDArray[np.bool_]:
        found = np.zeros(len(rows), dtype=np.bool_)
        measured = self._ground.measure(rows)
        pairs = self._ground.pairs(measured, self._ground.promising(measured))
        if len(pairs.owners):
            judged = self._judge.replay(pairs.a, pairs.b)
            found[pairs.owners[judged.status == Status.FOUND]] = True
        return found
