"""The normal form in which instances are handed to solvers that others wrote.

Definition. An instance is *plain* if every clause has at least two literals of different variables, no clause
occurs twice, every variable occurs in a clause and is bound, no probability is 0 or 1, and the variables are
numbered 1, 2, ... without a gap.

Theorem. :func:`plain` leaves the value as it is: that of the given instance is ``factor`` times that of the
plain one (1 where no clause is left). Tautologies, repeated literals, repeated clauses and variables without an
occurrence change no value. A clause of one literal, at any depth of the prefix: if the variable is existential,
the other truth is worth 0, so this one is a best choice; if it is universal, the other truth makes 0 the least;
if it is random, the other truth adds nothing to the mean, so that the value is the chance of this one times what
is left, and factors that are not negative move out of every maximum, minimum and mean. A variable of probability
0 or 1 is such a clause with factor 1. An empty clause is worth 0.

Why: solvers count a clause twice that stands there twice, abort at contradictory units, or answer nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import pairwise

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from fairdsl.backends.ssat.writing import sdimacs_of


@dataclass(frozen=True, kw_only=True)
class Plain:
    """What is left to be solved, and how its value leads back.

    ``factor`` times the value of ``instance`` is the value asked for. ``numbers[k - 1]`` is what variable k of
    ``instance`` was called; ``fixed`` are the truths of variables, by their old numbers, that were settled.
    """

    instance: Instance
    factor: Fraction
    numbers: tuple[int, ...]
    fixed: Mapping[int, bool]

    @property
    def settled(self) -> Fraction | None:
        """The value, where nothing is left to be solved."""
        return None if self.instance.clauses else self.factor

    @cached_property
    def text(self) -> str:
        """The instance as SDIMACS, which says nothing about itself."""
        return sdimacs_of(self.instance)

    @cached_property
    def digest(self) -> str:
        """A name for the instance."""
        return sha256(self.text.encode()).hexdigest()

    def then(self, later: Plain) -> Plain:
        """This normal form followed by one of its ``instance``."""
        fixed = {self.numbers[variable - 1]: truth for variable, truth in later.fixed.items()}
        return Plain(
            instance=later.instance,
            factor=self.factor * later.factor,
            numbers=tuple(self.numbers[old - 1] for old in later.numbers),
            fixed=dict(self.fixed) | fixed,
        )


def plain(instance: Instance, assumptions: Iterable[int] = ()) -> Plain:
    """The normal form, under ``assumptions``: literals that hold, of variables of the outermost existential block.

    Variables that the prefix leaves out belong to that block. Raises ValueError for an assumption about another
    variable, and for two that contradict each other.
    """
    return Simplifier(instance).under(assumptions)


class Simplifier:
    """Normal forms of one instance under different assumptions; its clauses are looked through once."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.bounds = {bound.variable: bound for bound in instance.prefix}
        given = (sorted(set(clause), key=abs) for clause in instance.clauses)
        #: Without tautologies; each with its literals in order.
        self.clauses = [clause for clause in given if not any(a == -b for a, b in pairwise(clause))]
        #: The clauses that a literal is in, by their places.
        self.places: dict[int, list[int]] = {}
        for place, clause in enumerate(self.clauses):
            for literal in clause:
                self.places.setdefault(literal, []).append(place)
        self._certain = [
            bound.variable if bound.chance else -bound.variable
            for bound in instance.prefix
            if bound.chance is not None and bound.chance.denominator == 1
        ]
        inner = set(self.bounds)
        if instance.prefix and instance.prefix[0].quantifier is Quantifier.EXISTS:
            inner -= {bound.variable for bound in next(instance.blocks)[1]}
        self._inner = inner

    def under(self, assumptions: Iterable[int] = ()) -> Plain:
        """The normal form under assumptions; see :func:`plain`."""
        assumed = self._assumed(assumptions)
        work = _Work(self)
        for literal in (*self._certain, *assumed):
            work.hold(literal)
        return work.finished()

    def _assumed(self, assumptions: Iterable[int]) -> list[int]:
        literals = dict.fromkeys(assumptions)
        for literal in literals:
            if not 1 <= abs(literal) <= self.instance.variables or abs(literal) in self._inner:
                raise ValueError(f"{literal} is not a literal of the outermost existential block")
            if -literal in literals:
                raise ValueError(f"{literal} is assumed true and false")
        return list(literals)


class _Work:
    """One normal form in the making: the truths that are known, and how much is left of each clause."""

    def __init__(self, given: Simplifier) -> None:
        self._given = given
        self._fixed: dict[int, bool] = {}
        self._factor = Fraction(1)
        #: By clause, how many of its literals are open; 0 for one that holds.
        self._open = list(map(len, given.clauses))
        #: Clauses in the order in which a single literal was left of them.
        self._waiting = deque[int]()
        for place, clause in enumerate(given.clauses):
            self._look(place, len(clause))

    def hold(self, literal: int) -> None:
        """The literal is true from now on, and what follows from it."""
        self._settle()
        if self._factor:
            self._put(literal)
        self._settle()

    def finished(self) -> Plain:
        """What is left, numbered anew."""
        self._settle()
        instance, fixed = self._given.instance, self._fixed
        left = [] if not self._factor else [
            tuple([literal for literal in clause if abs(literal) not in fixed])
            for clause, open_ in zip(self._given.clauses, self._open, strict=True)
            if open_
        ]  # fmt: skip
        clauses = list(dict.fromkeys(left))  # only now, since taking literals away makes clauses equal
        numbers = sorted({abs(literal) for clause in clauses for literal in clause})
        new = {old: number for number, old in enumerate(numbers, start=1)}
        renamed = new | {-old: -number for old, number in new.items()}
        free = [Bound(new[old], Quantifier.EXISTS) for old in numbers if old not in self._given.bounds]
        bounds = (
            Bound(new[bound.variable], bound.quantifier, bound.chance)
            for bound in instance.prefix
            if bound.variable in new
        )
        return Plain(
            instance=Instance(
                variables=len(numbers),
                prefix=(*free, *bounds),
                clauses=tuple([tuple([renamed[literal] for literal in clause]) for clause in clauses]),
            ),
            factor=self._factor,
            numbers=tuple(numbers),
            fixed=fixed,
        )

    def _settle(self) -> None:
        """Put in the single literals that are left of clauses."""
        while self._waiting and self._factor:
            place = self._waiting.popleft()
            if self._open[place]:
                self._put(next(each for each in self._given.clauses[place] if abs(each) not in self._fixed))

    def _put(self, literal: int) -> None:
        truth = self._fixed.get(abs(literal))
        if truth is not None:
            if truth != (literal > 0):
                self._factor = Fraction(0)
            return
        self._fixed[abs(literal)] = literal > 0
        self._factor *= self._worth(literal)
        for place in self._given.places.get(literal, ()):
            self._open[place] = 0
        for place in self._given.places.get(-literal, ()):
            if self._open[place]:
                self._open[place] -= 1
                self._look(place, self._open[place])

    def _worth(self, literal: int) -> Fraction:
        """The factor of a clause of this one literal."""
        bound = self._given.bounds.get(abs(literal))
        if bound is None or bound.quantifier is Quantifier.EXISTS:
            return Fraction(1)
        if bound.chance is None:
            return Fraction(0)
        return bound.chance if literal > 0 else 1 - bound.chance

    def _look(self, place: int, left: int) -> None:
        if not left:
            self._factor = Fraction(0)
        elif left == 1:
            self._waiting.append(place)


def rounded(instance: Instance, digits: int) -> tuple[Instance, Fraction]:
    """The instance with every probability rounded to so many decimals, and how far its value may have moved.

    Theorem. If probabilities move by ``d_i``, the value moves by at most the sum of ``|d_i|``. For one strategy
    of the existential and one of the universal variables the chance of satisfaction is linear in each
    probability, with a slope between -1 and 1; maxima over strategies and minima of them move no further.
    """
    scale = 10**digits
    moved = Fraction(0)
    prefix = []
    for bound in instance.prefix:
        if bound.chance is None:
            prefix.append(bound)
            continue
        chance = Fraction(round(bound.chance * scale), scale)
        moved += abs(chance - bound.chance)
        prefix.append(Bound(bound.variable, bound.quantifier, chance))
    clauses: tuple[Clause, ...] = instance.clauses
    return Instance(variables=instance.variables, prefix=tuple(prefix), clauses=clauses), moved
