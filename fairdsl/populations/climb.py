"""Hill climbing: a network structure that no single change improves.

Changes add an edge, take one out or turn one round. Each step makes the change that raises the score most, or
lowers it least, the first such one in a fixed order, and never goes back to a structure that it has been to
(tabu search, Glover 1989). Then the search starts again from the best structure found, shaken by random changes,
:data:`RESTARTS` times, and keeps the best of all. The result depends on the rows and the choices alone. It may
be a local optimum, and a structure found by search is not a statement about causes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

#: How often the search starts again from a shaken structure.
RESTARTS = 10
#: How many changes for each column a climb goes on without finding anything better.
PATIENCE = 3
#: Gains below this part of the score are rounding.
_ROUNDING = 1e-10

#: The parents of every column.
Structure = tuple[frozenset[int], ...]
#: The score of a column with its parents.
Score = Callable[[int, frozenset[int]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What a search may do. ``max_parents``: None for any number; ``protected`` columns have protected parents only."""

    max_parents: int | None = None
    protected: frozenset[int] = frozenset()
    seed: int = 0

    def allows(self, parent: int, child: int) -> bool:
        """Whether there may be such an edge."""
        return child not in self.protected or parent in self.protected

    def full(self, parents: frozenset[int]) -> bool:
        """Whether no further parent may be added."""
        return self.max_parents is not None and len(parents) >= self.max_parents


def climb(columns: int, score: Score, choices: Choices) -> Structure:
    """The parents of every column in the best structure that the search finds."""
    random = Random(choices.seed)
    best = _ascend((frozenset(),) * columns, score, choices)
    for _ in range(RESTARTS):
        candidate = _ascend(_shaken(best, choices, random), score, choices)
        if _better(_total(candidate, score), _total(best, score)):
            best = candidate
    return best


def _ascend(start: Structure, score: Score, choices: Choices) -> Structure:
    """The best structure on a way that always takes the best change to a structure not visited before.

    The way ends after :data:`PATIENCE` changes a column without a new best one: it leads over plateaus, since
    turning an edge round often changes nothing, and out of shallow optima.
    """
    best, best_total = start, _total(start, score)
    structure, waited, visited = start, 0, {start}
    while waited < PATIENCE * len(start):
        following = _best_change(structure, visited, score, choices)
        if following is None:
            break
        structure = following
        visited.add(structure)
        total = _total(structure, score)
        if _better(total, best_total):
            best, best_total, waited = structure, total, 0
        else:
            waited += 1
    return best


def _best_change(structure: Structure, visited: set[Structure], score: Score, choices: Choices) -> Structure | None:
    """The change with the greatest gain, the first of several; None where all were visited."""
    best: Structure | None = None
    best_gain = 0.0
    before = [score(column, parents) for column, parents in enumerate(structure)]
    scale = abs(sum(before))
    for changed in _changes(structure, choices):
        gain = sum(
            score(column, new) - before[column]
            for column, (old, new) in enumerate(zip(structure, changed, strict=True))
            if new is not old
        )
        if (best is None or gain > best_gain + _ROUNDING * scale) and changed not in visited:
            best, best_gain = changed, gain
    return best


def _changes(structure: Structure, choices: Choices) -> Iterator[Structure]:
    """Every structure without circles that is one change away, in a fixed order."""
    above = [_ancestors(structure, column) for column in range(len(structure))]
    for child, parents in enumerate(structure):
        for parent in range(len(structure)):
            if parent in parents:
                without = _with(structure, child, parents - {parent})
                yield without
                turns = choices.allows(child, parent) and not choices.full(structure[parent])
                # Turned round it closes a circle where another way leads from parent to child.
                if turns and not any(parent in above[other] for other in parents - {parent}):
                    yield _with(without, parent, structure[parent] | {child})
            elif _may_add(parent, child, parents, choices) and child not in above[parent]:
                yield _with(structure, child, parents | {parent})


def _may_add(parent: int, child: int, parents: frozenset[int], choices: Choices) -> bool:
    return parent != child and choices.allows(parent, child) and not choices.full(parents)


def _ancestors(structure: Structure, column: int) -> frozenset[int]:
    found: set[int] = set()
    left = list(structure[column])
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left.extend(structure[node])
    return frozenset(found)


def _with(structure: Structure, column: int, parents: frozenset[int]) -> Structure:
    return (*structure[:column], parents, *structure[column + 1 :])


def _shaken(structure: Structure, choices: Choices, random: Random) -> Structure:
    """Some random changes, up to two a column: few leave a near optimum, many begin anew."""
    for _ in range(random.randint(1, 2 * len(structure))):
        changes = list(_changes(structure, choices))
        structure = random.choice(changes) if changes else structure
    return structure


def _total(structure: Structure, score: Score) -> float:
    return sum(score(column, parents) for column, parents in enumerate(structure))


def _better(new: float, old: float) -> bool:
    return new - old > _ROUNDING * max(1.0, abs(old))
