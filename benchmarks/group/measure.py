"""Both ways on one drawn sum: seconds, rates, and whether they agree."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.linear.refinement import Refinement, sums_of
from fairdsl.backends.rates.linear.task import weighted_sum
from fairdsl.ir.problem import Problem
from fairdsl.metrics.joint import Joint
from fairdsl.metrics.subject import subject_of
from fairdsl.verdict import Value
from group.recursion import GivenUpError, rate
from group.sums import Sum, problem_of

__all__ = ["CLOSE", "Measured", "answered", "least", "measured"]

#: How far two results of the same question may be apart: the recursion adds up floats.
CLOSE = 1e-9
#: Seconds of a budget that no problem here comes near to, that are measured at least, and at most unless one run is
#: longer.
_BUDGET, _SHORT, _LONG = 600.0, 0.5, 2.0

Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """CPU seconds, of five runs and half a second the least; ``plain`` None: the recursion gave up after its time.

    ``seconds`` are for an answer, ``alone`` for what the recursion has as well: the groups' rates.
    """

    rates: tuple[tuple[Fraction, Fraction], ...]
    exact: bool
    seconds: float
    alone: float
    plain: float | None
    difference: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.plain is None else self.plain / self.seconds

    @property
    def passed(self) -> bool:
        """Whether the rates are known within CLOSE, and the recursion's are the same where it has some."""
        narrow = all(high - low <= CLOSE for low, high in self.rates)
        return narrow and (self.difference is None or self.difference <= CLOSE)


def least(run: Callable[[], Found], times: int) -> tuple[Found, float]:
    """What it finds, and the least CPU seconds of so many runs; of more where they are short, and fewer where long."""
    taken: list[float] = []
    while True:
        start = time.process_time()
        found = run()
        taken.append(time.process_time() - start)
        whole = sum(taken)
        if (len(taken) >= times and (whole > _SHORT or times == 1)) or whole > _LONG:
            return found, min(taken)


def answered(problem: Problem) -> Value:
    """The engine's answer to a closed problem; raises ValueError where it has none."""
    value = Rates().answer(problem, Facts(), Budget.of(_BUDGET), Silent())
    if not isinstance(value, Value):
        raise ValueError(f"no rates: {value}")
    return value


def joint(problem: Problem) -> Joint:
    """The groups' probabilities within CLOSE, by the engine, and nothing made of them."""
    weighted = weighted_sum(subject_of(problem))
    known = Refinement.of(weighted, sums_of(weighted), Budget.of(_BUDGET), Silent())
    while known.improve():
        if all(each.high - each.low <= CLOSE for each in known.joint.favourable.values()):
            break
    return known.joint


def measured(asked: Sum, *, patience: float, times: int = 5) -> Measured:
    """The rates of the two groups by the engine and by the recursion, which may take ``patience`` seconds a group.

    The engine's seconds count from the closed problem to the metric, the recursion's from the drawn sum to the
    rates of both groups. The engine runs once before the clock starts, as do its imports.
    """
    problem = problem_of(asked)
    answered(problem)
    value, seconds = least(lambda: answered(problem), times)
    _, alone = least(lambda: joint(problem), times)
    rates = tuple((each.low, each.high) for each in sorted(value.rates, key=lambda each: tuple(each.group.values())))
    exact = all(low == high for low, high in rates)
    try:
        plain, taken = least(lambda: [rate(asked, group, patience) for group in (0, 1)], times)
    except GivenUpError:
        return Measured(rates=rates, exact=exact, seconds=seconds, alone=alone, plain=None, difference=None)
    apart = max(max(float(low) - p, p - float(high), 0.0) for (low, high), p in zip(rates, plain, strict=True))
    return Measured(rates=rates, exact=exact, seconds=seconds, alone=alone, plain=taken, difference=apart)
