"""One question, decided by solvers: bounds of pairs, then linear programs, then z3.

Cases are settled one by one; the question holds once all are. A case goes to linear and mixed-integer
programs first, which are fast but work with tolerances: their refutations count only with a certificate that
is checked here (``milp.certificate``), their pairs only after a replay. What they leave goes to z3 on the
region's folded network, and to halves of the region where that is too much.

This runs in a process of its own (``worker``), which is killed where a limit is not kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.bound_filters.boxes import Boxes
from fairdsl.backends.smt.case_bounds import Bounded, CaseBounds
from fairdsl.backends.smt.cases import Case, cases
from fairdsl.backends.smt.engine import Job, answer_to, request_of
from fairdsl.backends.smt.recover import checked, is_violation
from fairdsl.backends.smt.region import whole_region
from fairdsl.backends.smt.worklist import WorkList
from fairdsl.clock import Deadline, Meter, until
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.bounds import float_layers
from fairdsl.numerics.narrow import count_points
from fairdsl.options import Options, Run
from fairdsl.replay import witness
from fairdsl.verdict import Breach, Reason, Witness

if TYPE_CHECKING:
    from fairdsl.backends.smt.milp.place import Enclosures


class Status(Enum):
    """A verdict."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one question may take.

    ``trust_milp``: `infeasible` counts without a certificate. ``units``: ask about single units first.
    ``programs_only``: leave to the caller what linear programs leave open.
    """

    seconds: float
    seed: int
    trust_milp: bool = False
    units: bool = False
    programs_only: bool = False
    #: Whether the seconds are those of an effort.
    metered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chained:
    """The verdict and what decided it.

    ``undecided`` are the units left so where single units were asked about; ``left`` the numbers of the cases
    that are open where only programs were asked.
    """

    status: Status
    by: str
    witness: Witness | Breach | None = None
    gap: Witness | Breach | None = None
    reason: Reason | None = None
    detail: str = ""
    undecided: int | None = None
    left: tuple[int, ...] = ()
    trusted: bool = False
    #: What was done for it.
    meter: Meter | None = None


#: Of a question whose cases could not even be bounded.
_TOO_MANY = "the time was up before every case was bounded"


def preload() -> None:
    """Import what deciding will need, so that it counts in no question's time."""
    import highspy

    from fairdsl.backends.smt.bound_filters import sampling
    from fairdsl.backends.smt.milp import decide as programs

    del highspy, programs, sampling


def decide(problem: Problem, limits: Limits) -> Chained:
    """Decide the problem, as far as the limits allow."""
    deadline = Deadline.within(limits.seconds)
    every = cases(problem)
    together = every.problem
    enclosures = _enclosures(together)
    asked = _left_by_sides(together, every, enclosures, deadline)
    open_cases, unbounded = _left_by_bounds(together, asked, deadline)
    if unbounded:
        left = (*(case.number for case, _ in open_cases), *(case.number for case in unbounded))
        reason = Reason.INCOMPLETE if limits.programs_only else Reason.TIMEOUT
        return Chained(status=Status.UNKNOWN, by="bounds", reason=reason, detail=_TOO_MANY, left=left)
    if not open_cases:
        return Chained(status=Status.HOLDS, by="bounds" if len(asked) == len(every) else "milp")
    undecided: int | None = None
    if limits.units:
        open_cases, undecided = _tightened(together, open_cases, deadline)
    programmed = _programmed(problem, together, open_cases, limits, deadline, enclosures)
    if programmed.witness is not None:
        found = Chained(status=Status.VIOLATED, by="milp", witness=programmed.witness)
    elif not programmed.left:
        found = Chained(status=Status.HOLDS, by="milp")
    elif limits.programs_only:
        left = tuple(case.number for case in programmed.left)
        found = Chained(status=Status.UNKNOWN, by="milp", reason=Reason.INCOMPLETE, left=left)
    else:
        found = _by_z3(problem, together, programmed.left, deadline, limits.seed)
    if programmed.trusted and found.status is Status.HOLDS:
        found = replace(found, by="trusted milp")
    return replace(found, undecided=undecided, trusted=programmed.trusted)


def _left_by_bounds(
    problem: Problem, asked: Sequence[Case], deadline: Deadline
) -> tuple[list[tuple[Case, Bounded]], Sequence[Case]]:
    """Those of the cases that bounds leave open, the easiest first, and those for which there was no time."""
    found: list[tuple[Case, Bounded]] = []
    with until(deadline):
        for batch in CaseBounds(problem, asked).batches():
            found.extend(batch)
    left = [entry for entry in found if not entry[1].settled]
    return sorted(left, key=lambda entry: entry[1].undecided), asked[len(found) :]


def _enclosures(problem: Problem) -> Enclosures:
    """Bounds of the problem's network, shared by all that is asked about it."""
    from fairdsl.backends.smt.milp.place import Enclosures

    return Enclosures(float_layers(problem.model), problem.model.inputs)


def _left_by_sides(
    problem: Problem, asked: Sequence[Case], enclosures: Enclosures, deadline: Deadline
) -> Sequence[Case]:
    """The cases that programs about single individuals leave open."""
    from fairdsl.backends.smt.milp.sides import left_by_sides

    seconds = min(_QUICK_SECONDS, deadline.remaining / 8)
    return left_by_sides(problem, asked, enclosures, seconds=seconds)


#: What the first try of all cases may take: seconds, and linear programs a case.
_QUICK_SECONDS, _QUICK_NODES = 2.0, 400
#: Units that are drawn in a round, and rounds, where the first try decides nothing: each of a few units comes so often.
#: Rounds end with this share of the time.
_DRAWN, _ROUNDS, _REPEATS, _SAMPLING_SHARE = 2048, 40, 40, 0.25
#: The share of the rest that programs get before z3.
_PROGRAMS_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class _Programmed:
    """A violation, or the cases that are left; ``trusted``: some case counts as refuted without a proof."""

    left: list[Case]
    trusted: bool = False
    witness: Witness | Breach | None = None


def _programmed(
    problem: Problem,
    together: Problem,
    open_cases: list[tuple[Case, Bounded]],
    limits: Limits,
    deadline: Deadline,
    enclosures: Enclosures,
) -> _Programmed:
    """A short try of all cases, which mostly is enough; then a thorough look for a violation; then the rest.

    The cases are about the model of ``together``; what is found is checked on the ``problem``.
    """
    quickly = min(_QUICK_SECONDS, deadline.remaining / 8)
    first = _by_programs(problem, together, open_cases, quickly, _QUICK_NODES, enclosures, trust=limits.trust_milp)
    if first.witness is not None or not first.left:
        return first
    found = _sampled(problem, limits.seed, Deadline.within(deadline.remaining * _SAMPLING_SHARE))
    if found is not None:
        return _Programmed([], witness=found)
    left = [entry for entry in open_cases if entry[0] in first.left]
    seconds = deadline.remaining * (1.0 if limits.programs_only else _PROGRAMS_SHARE)
    second = _by_programs(problem, together, left, seconds, None, enclosures, trust=limits.trust_milp)
    return replace(second, trusted=first.trusted or second.trusted)


def _by_programs(
    problem: Problem,
    together: Problem,
    open_cases: list[tuple[Case, Bounded]],
    seconds: float,
    nodes: int | None,
    enclosures: Enclosures,
    *,
    trust: bool,
) -> _Programmed:
    """What linear and mixed-integer programs decide in the seconds, shared equally among the cases."""
    from fairdsl.backends.smt.milp.decide import settle_case

    deadline = Deadline.within(seconds)
    limit = {} if nodes is None else {"nodes": nodes}
    left: list[Case] = []
    trusted = False
    for place, (case, bounded) in enumerate(open_cases):
        share = deadline.remaining / (len(open_cases) - place)
        if share <= 0:  # even to begin takes its time
            return _Programmed([*left, *(entry[0] for entry in open_cases[place:])], trusted)
        answer = settle_case(together, case, bounded, seconds=share, trust_milp=trust, enclosures=enclosures, **limit)
        if answer.status == "refuted":
            continue
        if answer.status == "infeasible" and trust:
            trusted = True
            continue
        if answer.a is not None and answer.b is not None:
            found = checked(problem, answer.a, answer.b)
            if found is not None and is_violation(problem, found):
                return _Programmed([], trusted, found)
        left.append(case)
    return _Programmed(left, trusted)


def _sampled(problem: Problem, seed: int, until: Deadline) -> Witness | None:
    """A violation among many individuals, where programs are about to take long; no round begins after ``until``."""
    from fairdsl.backends.smt.bound_filters.sampling import Sampler

    pair = problem.question
    if not isinstance(pair, Pair):
        return None
    sets = whole_region(problem.domain, pair).a
    relaxed = [sets[each.attribute] for each in pair.relax]
    several = count_points([values for place, values in enumerate(sets) if place not in pair.differ] + relaxed)
    rounds = _ROUNDS if several is None else min(_ROUNDS, ceil(_REPEATS * several / _DRAWN))
    for suspect in Sampler(problem, sets, seed, until).suspects(Boxes.of([sets]), _DRAWN, rounds):
        found = witness(problem, *suspect.pair)
        if found is not None and found.replay.agrees:
            return found
    return None


def _by_z3(problem: Problem, together: Problem, left: list[Case], deadline: Deadline, seed: int) -> Chained:
    """The cases that are left, by z3 and halving."""
    budget = Budget(deadline=deadline, options=Options(Run(jobs=1, seed=seed)))
    bounds = CaseBounds(together, left)
    outcome = WorkList(together, _InProcess(), Facts(), budget, Silent(), bounds, original=problem).run()
    if outcome.witness is not None:
        return Chained(status=Status.VIOLATED, by="z3", witness=outcome.witness)
    if outcome.gaps:
        detail = "a pair breaks the demand in exact arithmetic but not in the deployed file's"
        return Chained(status=Status.UNKNOWN, by="z3", gap=outcome.gaps[0], reason=Reason.NUMERIC_GAP, detail=detail)
    if outcome.open:
        reason, detail = outcome.open[0]
        return Chained(status=Status.UNKNOWN, by="z3", reason=reason, detail=detail)
    return Chained(status=Status.HOLDS, by="z3")


def _tightened(
    problem: Problem, open_cases: list[tuple[Case, Bounded]], deadline: Deadline
) -> tuple[list[tuple[Case, Bounded]], int]:
    """The cases with sharper bounds of single units, and how many units are undecided in the worst of them."""
    from fairdsl.backends.smt.milp.prune import tightened

    found, worst = [], 0
    for place, (case, bounded) in enumerate(open_cases):
        seconds = deadline.remaining / (4 * (len(open_cases) - place))
        a = tightened(problem.model, bounded.region.a, bounded.a, seconds=seconds / 2)
        b = tightened(problem.model, bounded.region.b, bounded.b, seconds=seconds / 2)
        sharper = replace(bounded, a=a, b=b)
        worst = max(worst, _undecided(problem.model, sharper))
        found.append((case, sharper))
    return found, worst


def _undecided(model: Model, bounded: Bounded) -> int:
    """How many of the network's units are left on either side of zero in some copy."""
    left = 0
    for layer, *copies in zip(model.layers[:-1], bounded.a, bounded.b, strict=False):
        sides = np.logical_or.reduce([(low < 0) & (high > 0) for low, high in copies])
        left += int((sides & ~layer.linear).sum())
    return left


class _InProcess:
    """z3 in this very process, which is the one that is killed."""

    def __init__(self) -> None:
        self._ready: list[tuple[Hashable, Answer]] = []

    def start(self, job: Job) -> None:
        """Solve it at once."""
        from fairdsl.backends.smt.worker import answer

        self._ready.append((job.key, answer_to(job, answer(request_of(job)))))

    def finished(self, until: Deadline) -> list[tuple[Hashable, Answer]]:
        """What was solved."""
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        """Nothing to end."""
