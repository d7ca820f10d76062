"""What the parts about satisfiability measure: trees of files, and drawn policies by size."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

from fairdsl.backends.rates import Rates
from fairdsl.backends.ssat import Ssat
from fairdsl.backends.ssat.engine import Engine
from fairdsl.ir.problem import Problem
from group.measure import CLOSE, least
from group.policies import Timed, listed, timed, tree
from group.trees import People, TreeCase, raw_instance
from group.worked import answers_of

__all__ = ["Grown", "OfPeople", "Raw", "grown", "of_people", "policies", "raw"]

#: Seconds that a tree's formula may take.
SOLVED_WITHIN = 0.2
GROUPS = (1, 2, 4, 6, 8, 10, 12)
DEPTHS = (2, 4, 6, 8, 10, 12)
RULES = (2, 4, 8, 16, 32, 64)
#: Depth where groups grow, protected Booleans where trees and lists do.
DEPTH, PROTECTED = 4, 3


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A tree's question as the tool asks it: the extreme groups, then each; ``seconds`` are for the extremes."""

    case: str
    groups: int
    size: tuple[int, int]
    least: Fraction
    most: Fraction
    furthest: float
    seconds: float
    published: float
    published_seconds: float

    @property
    def passed(self) -> bool:
        return self.furthest <= CLOSE and self.seconds <= SOLVED_WITHIN

    @property
    def impact_ratio(self) -> float:
        return float(self.least / self.most)


def raw(case: TreeCase) -> Raw:
    """Both formulas solved, and each of the file's groups beside the file's rate."""
    accepted, refused = (raw_instance(case, each) for each in (True, False))

    def extremes() -> tuple[Fraction, Fraction]:
        smallest, greatest = Engine(refused).solve(), Engine(accepted).solve()
        if not (smallest.exact and greatest.exact):
            raise ValueError(f"no value of {case.name}")
        return 1 - smallest.low, greatest.low

    (low, high), seconds = least(extremes, 5)
    engine = Engine(accepted)
    apart = [abs(float(engine.solve(literals).low) - rate) for literals, rate in case.references]
    apart += [abs(float(low) - min(rate for _, rate in case.references))]
    apart += [abs(float(high) - max(rate for _, rate in case.references))]
    told = case.document["peer"]["Learn_ER_SSAT"]
    return Raw(
        case=case.name,
        groups=len(case.references),
        size=(accepted.variables, len(accepted.clauses)),
        least=low,
        most=high,
        furthest=max(apart),
        seconds=seconds,
        published=told["DI"],
        published_seconds=told["seconds"],
    )


@dataclass(frozen=True, kw_only=True)
class OfPeople:
    """A tree's question with ordered thresholds: the extreme rates by the engine, and cell by cell."""

    case: str
    cells: int
    least: Fraction
    most: Fraction
    impact_ratio: Fraction
    seconds: float
    passed: bool


def of_people(case: TreeCase) -> OfPeople:
    """Every group's rate has to be the brute force's fraction."""
    people = People(case=case)
    counted = people.rates()
    with tempfile.TemporaryDirectory() as folder:
        spec = people.spec(Path(folder))
        (rates, impact), seconds = least(lambda: answers_of(spec, "acceptance_rate", "impact_ratio"), 3)
    found = {tuple(int(number) for number in rate.group.values()): (rate.low, rate.high) for rate in rates.rates}
    low, high = min(counted.values()), max(counted.values())
    return OfPeople(
        case=case.name,
        cells=prod(len(column.chances) for column in people.columns) * len(counted),
        least=low,
        most=high,
        impact_ratio=impact.low,
        seconds=seconds,
        passed=found == {group: (rate, rate) for group, rate in counted.items()}
        and impact.low == impact.high == low / high,
    )


@dataclass(frozen=True, kw_only=True)
class Grown:
    """One drawn policy by states, and through SDIMACS files: group by group and by the extremes."""

    name: str
    states: Timed
    enumerated: Timed
    learned: Timed

    @property
    def ways(self) -> tuple[Timed, ...]:
        return self.states, self.enumerated, self.learned

    @property
    def passed(self) -> bool:
        """Whether no two ways have another value; a way may have none."""
        return len({way.value for way in self.ways if way.value is not None}) <= 1


def policies(seed: int) -> Iterator[tuple[str, Problem]]:
    """By groups, by depth, by rules."""
    drawn: list[tuple[str, Iterable[int], Callable[[int], Problem]]] = [
        ("{0} groups, depth " + str(DEPTH), GROUPS, lambda count: tree(DEPTH, count, seed)),
        ("depth {1}", DEPTHS, lambda depth: tree(depth, PROTECTED, seed)),
        ("{1} rules", RULES, lambda rules: listed(rules, PROTECTED, seed)),
    ]
    for name, sizes, make in drawn:
        for size in sizes:
            yield name.format(f"{2**size:,}", size), make(size)


def grown(name: str, problem: Problem, patience: float) -> Grown:
    """Each way gets ``patience`` seconds."""
    return Grown(
        name=name,
        states=timed(Rates, problem, patience),
        enumerated=timed(Ssat, problem, patience, "enumerate"),
        learned=timed(Ssat, problem, patience, "learn"),
    )
