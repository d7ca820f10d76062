"""Where a search takes place: candidates measured in approximate arithmetic, and the pairs among their members.

Nothing here is proved. A score so near to a threshold that float64 may err is settled at once, so that ties are not
passed over; every pair is judged by :mod:`fairdsl.backends.search.judge` before it counts.

Given rows in a search: individuals to begin with, to draw around, and to measure counterexamples by.

Rows outside the domain are for the caller to leave out. Rows outside the target are nobody to begin with, but people
all the same: counterexamples may be near them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.candidates import Space, apart, between, space_of
from fairdsl.backends.search.evaluators import Counted, Evaluator
from fairdsl.backends.search.nearness import Nearest, scales_of
from fairdsl.backends.search.pool import NearestFirst, Pool
from fairdsl.backends.search.sampling import Sampler
from fairdsl.ir.domain import Domain, Real
from fairdsl.ir.expr import TRUE, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, ScoreGap
from fairdsl.numerics.confidence import approximate_log_odds
from fairdsl.numerics.evaluate import Around
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.options.commands import Search


def as_deployed(rows: FloatArray, domain: Domain) -> FloatArray:
    """The rows with real values as float32 numbers, as a deployed file reads them, where the domain has them."""
    found = rows.copy()
    for index, attribute in enumerate(domain.attributes):
        if isinstance(attribute.type, Real):
            with np.errstate(over="ignore"):
                rounded = rows[:, index].astype(np.float32).astype(np.float64)
            low, high = attribute.bounds
            inside = np.isfinite(rounded)
            inside &= rounded >= (-np.inf if low is None else float_above(low))
            inside &= rounded <= (np.inf if high is None else float_below(high))
            found[:, index] = np.where(inside, rounded, rows[:, index])
    return found


class Given:
    """The rows [n, attributes] of one question."""

    def __init__(self, rows: FloatArray, domain: Domain, pair: Pair, sampler: Sampler) -> None:
        self._shared = [index for index in range(rows.shape[1]) if index not in pair.differ]
        self._sampler = sampler
        self.rows = as_deployed(rows, domain)
        self.scales = scales_of(self.rows, domain, self._shared)
        self._nearest = Nearest(self.rows[:, self._shared], self.scales)
        #: Those in the target, as far as its ranges tell: the search begins with them.
        self.people = self.rows[self._inside(pair)]
        self._free = [index for index in self._shared if not sampler.columns[index].single]

    def _inside(self, pair: Pair) -> BoolArray:
        """Which rows have values that the target leaves.

        Without relaxations the values of differing attributes are replaced by all others, so they do not matter.
        """
        found = np.full(len(self.rows), not self._sampler.empty)
        for index in range(self.rows.shape[1]) if pair.relax else self._shared:
            found &= self._sampler.columns[index].contains(self.rows[:, index])
        return found

    def scale(self, attribute: int) -> float:
        """What a difference in an attribute is divided by; nan where only being equal counts, or it does not count."""
        return float(self.scales[self._shared.index(attribute)]) if attribute in self._shared else np.nan

    def nearest(self, a: FloatArray, b: FloatArray) -> tuple[FloatArray, IntArray]:
        """The distance of each pair from the nearest row, and the row: of the two the one that is nearer.

        Attributes in ``differ`` do not count. Without relaxations the two are alike in all the others.
        """
        of_a, of_b = a[:, self._shared], b[:, self._shared]
        distances, rows = self._nearest.of(of_a)
        apart = np.flatnonzero((of_a != of_b).any(axis=1))
        others, rows_of_others = self._nearest.of(of_b[apart])
        nearer = others < distances[apart]
        distances[apart[nearer]], rows[apart[nearer]] = others[nearer], rows_of_others[nearer]
        return distances, rows

    def draw(self, count: int) -> FloatArray:
        """People around those given: one at random, with one attribute or more moved by a random step.

        The number of moved attributes is geometric: one in half of the draws, two in a quarter. Whoever the step
        leads out of the target is left out.
        """
        rng, columns = self._sampler.rng, self._sampler.columns
        if not len(self.people) or not self._free:
            return self._sampler.draw(count)
        drawn = self.people[rng.integers(0, len(self.people), count)]
        moves = np.minimum(rng.geometric(0.5, count), len(self._free))
        ranks = np.argsort(rng.random((count, len(self._free))), axis=1)
        for place, index in enumerate(self._free):
            mine = np.flatnonzero(ranks[:, place] < moves)
            drawn[mine, index] = columns[index].step(drawn[mine, index], rng)
        return drawn


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Scores nearer to a threshold, relative to the largest one: decided; and decided otherwise by float32 perhaps.
DOUBT, _SINGLE = 1e-9, 1e-6
#: Individuals that are decided between two looks at the clock.
SETTLED = 4096
#: Numbers in one comparison of all members with each other.
_CELLS = 2**21


@dataclass(frozen=True, slots=True)
class Measurement:
    """Candidates with their members; ``valid`` ones are individuals of domain and target."""

    members: FloatArray  # [n, k, attributes]
    valid: BoolArray  # [n, k]
    scores: FloatArray  # [n, k, scores]
    decisions: IntArray  # [n, k]
    margins: FloatArray  # [n, k]
    wavering: BoolArray  # [n, k], whom a deployed float32 file may decide otherwise


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs that seem to violate, of each candidate the most convincing first; ``owners`` ascend."""

    owners: IntArray  # [m], rows of the measurement
    a: FloatArray  # [m, attributes]
    b: FloatArray


class Ground:
    """One question, how its candidates are drawn and measured, and what was found of them so far.

    ``batch`` is how many candidates are best tried at once. ``given`` are the rows that counterexamples shall be near
    to, if any. ``options`` are those of the command, of which some are for single strategies.
    """

    def __init__(
        self, problem: Problem, pair: Pair, evaluator: Evaluator, budget: Budget, rows: FloatArray | None = None
    ) -> None:
        self.problem, self.pair = problem, pair
        self._budget, self.options = budget, budget.options[Search]
        self.evaluator = Counted(evaluator)
        self.rng = np.random.default_rng(budget.seed)
        self.sampler = Sampler(problem.domain, pair.target, self.rng)
        self.space: Space = space_of(pair, self.sampler)
        self.given = None if rows is None else Given(rows, problem.domain, pair, self.sampler)
        self.pool = (Pool if rows is None else NearestFirst)(len(self.space.columns), self.rng)
        self.batch = 1
        self._conditions = conjoin(between(pair), pair.pair_target)

    @property
    def free(self) -> list[int]:
        """The coordinates that have more than one value."""
        return [position for position, column in enumerate(self.space.columns) if not column.single]

    @property
    def source(self) -> str:
        """What counterexamples among drawn candidates are put down to."""
        return "uniform" if self.given is None else "surroundings"

    def draw(self, count: int) -> FloatArray:
        """At most ``count`` candidates at random: around the given rows where there are some, else of the domain."""
        return self.space.draw(count) if self.given is None else self.space.of(self.given.draw(count))

    def measure(self, rows: FloatArray, around: Around | None = None) -> Measurement:
        """Evaluate the candidates, [n, w], which are ``around`` others, [c, w], if these are given."""
        if around is not None:
            # Only a kernel machine has a use for it, and only where all members have the candidate's values.
            useful = self.problem.model.opaque is not None and self.space.complete and self.space.touches.all()
            around = Around(self.space.members(around.centres)[:, 0], around.owners) if useful else None
        return self.evaluate(self.space.members(rows), around)

    def evaluate(self, members: FloatArray, around: Around | None = None) -> Measurement:
        """Evaluate individuals that belong together, [n, k, attributes]."""
        count, size, width = members.shape
        flat = members.reshape(-1, width)
        valid = self.sampler.inside(flat)
        scores = self.evaluator.together(members, around)
        decisions = self.evaluator.approximate_decisions(scores)
        margins = self.evaluator.margins(scores)
        relative = margins / (1 + np.abs(scores).max(axis=1, initial=0.0))
        near = self._in_doubt(valid, relative, decisions, size)
        for start in range(0, len(near), SETTLED):
            if self._budget.exhausted:
                break  # ties may take a millisecond each
            part = near[start : start + SETTLED]
            decisions[part] = self.evaluator.settled(flat[part]).decisions
        shape = (count, size)
        return Measurement(
            members,
            valid.reshape(shape),
            scores.reshape(count, size, scores.shape[1]),
            decisions.reshape(shape),
            margins.reshape(shape),
            (relative < (_SINGLE if self.problem.model.deployed else 0.0)).reshape(shape),
        )

    def _in_doubt(self, valid: BoolArray, relative: FloatArray, decisions: IntArray, size: int) -> IntArray:
        """The individuals so near to another decision that float64 may have passed over a violation."""
        if isinstance(self.pair.demand, ScoreGap):
            return np.empty(0, dtype=np.int64)  # decisions play no part
        near = valid & ~(relative > DOUBT)
        if size == 2:
            # Two who seem to be decided differently are judged anyway.
            alike = decisions[0::2] == decisions[1::2]
            near &= np.repeat(alike, 2)
        return np.flatnonzero(near)

    def promising(self, measured: Measurement) -> IntArray:
        """The rows with two valid members that seem to break the demand."""
        valid = measured.valid
        if isinstance(self.pair.demand, ScoreGap):
            first = measured.scores[:, :, 0]
            highest = np.where(valid, first, -np.inf).max(axis=1)
            lowest = np.where(valid, first, np.inf).min(axis=1)
            with np.errstate(invalid="ignore"):
                return np.flatnonzero(highest - lowest >= self._least_gap)
        most = np.where(valid, measured.decisions, -1).max(axis=1)
        least = np.where(valid & (measured.decisions >= 0), measured.decisions, np.iinfo(np.int64).max).min(axis=1)
        differing = (most >= 0) & (most > least)
        return np.flatnonzero(differing | (measured.wavering & valid).any(axis=1))

    @property
    def _least_gap(self) -> float:
        demand = self.pair.demand
        return float_below(demand.limit) * (1 - DOUBT) - 1e-300 if isinstance(demand, ScoreGap) else 0.0

    def pairs(self, measured: Measurement, rows: IntArray) -> Pairs:
        """The pairs among the members of these rows that seem to break the demand."""
        size = measured.members.shape[1]
        step = max(1, _CELLS // (size * size))
        parts = [self._pairs(measured, rows[start : start + step]) for start in range(0, len(rows), step)]
        if not parts:
            empty = np.empty((0, measured.members.shape[2]))
            return Pairs(np.empty(0, dtype=np.int64), empty, empty)
        return Pairs(
            np.concatenate([part.owners for part in parts]),
            np.concatenate([part.a for part in parts]),
            np.concatenate([part.b for part in parts]),
        )

    def _pairs(self, measured: Measurement, rows: IntArray) -> Pairs:
        members, valid = measured.members[rows], measured.valid[rows]
        decisions, margins, first = measured.decisions[rows], measured.margins[rows], measured.scores[rows, :, 0]
        linked = valid[:, :, None] & valid[:, None, :]
        # Which members differ is the same for all candidates but where a candidate is a pair itself.
        some = members[:1] if members.shape[1] != 2 else members
        linked &= apart(self.pair, some[:, :, None, :], some[:, None, :, :])
        if isinstance(self.pair.demand, ScoreGap):
            appeal = np.abs(first[:, :, None] - first[:, None, :])
            linked &= appeal >= self._least_gap
        else:
            appeal = np.minimum(margins[:, :, None], margins[:, None, :])
            differing = decisions[:, :, None] != decisions[:, None, :]
            differing &= (decisions[:, :, None] >= 0) & (decisions[:, None, :] >= 0)
            wavering = measured.wavering[rows]
            linked &= differing | wavering[:, :, None] | wavering[:, None, :]
            # Whoever is decided differently in exact arithmetic comes first.
            appeal = np.where(differing, 1.0 + appeal, appeal)
        if self.pair.symmetric:
            linked &= np.triu(np.ones(linked.shape[1:], dtype=np.bool_))
        owner, p, q = np.nonzero(linked)
        kept = self._admitted(measured, rows[owner], p, q)
        owner, p, q = owner[kept], p[kept], q[kept]
        order = np.lexsort((-appeal[owner, p, q], owner))
        owner, p, q = owner[order], p[order], q[order]
        return Pairs(rows[owner], members[owner, p], members[owner, q])

    def _admitted(self, measured: Measurement, rows: IntArray, p: IntArray, q: IntArray) -> BoolArray:
        """Which ordered pairs meet the conditions on pairs, confidence roughly."""
        a, b = measured.members[rows, p], measured.members[rows, q]
        kept = np.ones(len(rows), dtype=np.bool_)
        if self._conditions != TRUE:
            kept &= mask(self._conditions, {Who.A: a, Who.B: b})
        for who, member in ((Who.A, p), (Who.B, q)):
            wanted = self.pair.sure_of(who)
            if wanted:
                decided = measured.decisions[rows, member]
                odds = approximate_log_odds(self.problem.model, measured.scores[rows, member], decided)
                level = max(-float(np.log(float(sure.odds_against))) for sure in wanted)
                kept &= odds >= level - 1e-6 * (1 + abs(level))
        return kept
