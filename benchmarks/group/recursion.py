"""The recursion of FVGM, plainly: what the subset sums are compared with.

Ghosh, Basu and Meel, *Algorithmic Fairness Verification with Graphical Models*, AAAI 2022: the probability that
the variables from i on contribute at least t is that of i being true times the probability that those after it
contribute t - w(i), plus that of i being false times the probability that they contribute t. Subproblems are
kept by (i, t); it is 1 where even the least sum of the rest reaches t, and 0 where the greatest does not. Of
variables that a network connects every assignment is gone through, since there (i, t) does not determine the
subproblem; the independent ones come last. One group is solved at a time, as the paper's two kinds of choice
variables do for the largest and for the smallest rate.
"""

from __future__ import annotations

import sys
import time

from group.sums import Sum

__all__ = ["GivenUpError", "rate"]

#: Calls between two looks at the clock.
_OFTEN = 1 << 14


class GivenUpError(Exception):
    """The recursion had no answer within its time."""


class _Recursion:
    def __init__(self, asked: Sum, group: int, seconds: float) -> None:
        connected = {place for above in asked.parents for place in above}
        connected |= {place for place, above in enumerate(asked.parents) if above}
        chances = range(1, asked.size)
        self._order = [place for place in chances if place in connected]
        self._enumerated = len(self._order)
        self._order += [place for place in chances if place not in connected]
        self._asked = asked
        self._chances = [[float(chance) for chance in table] for table in asked.chances]
        self._values = [group] + [0] * (asked.size - 1)
        self._least, self._most = [0], [0]
        for place in reversed(self._order):
            weight = asked.weights[place]
            self._least.append(self._least[-1] + min(weight, 0))
            self._most.append(self._most[-1] + max(weight, 0))
        self._least.reverse()
        self._most.reverse()
        self._known: dict[tuple[int, int], float] = {}
        self._deadline = time.process_time() + seconds
        self._calls = 0

    def at(self, step: int, wanted: int) -> float:
        if wanted <= self._least[step]:
            return 1.0
        if wanted > self._most[step]:
            return 0.0
        kept = step >= self._enumerated
        if kept and (step, wanted) in self._known:
            return self._known[step, wanted]
        self._calls += 1
        if self._calls % _OFTEN == 0 and time.process_time() > self._deadline:
            raise GivenUpError
        place = self._order[step]
        row = 0
        for parent in self._asked.parents[place]:
            row = 2 * row + self._values[parent]
        chance = self._chances[place][row]
        self._values[place] = 1
        found = chance * self.at(step + 1, wanted - self._asked.weights[place])
        self._values[place] = 0
        found += (1 - chance) * self.at(step + 1, wanted)
        if kept:
            self._known[step, wanted] = found
        return found


def rate(asked: Sum, group: int, seconds: float) -> float:
    """The rate of one group; raises GivenUpError after ``seconds``."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 4 * asked.size + 1000))
    try:
        return _Recursion(asked, group, seconds).at(0, asked.threshold - asked.weights[0] * group)
    finally:
        sys.setrecursionlimit(before)
