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
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from fairdsl.backends.ssat.writing import sdimacs_of

__all__ = ["Plain", "plain", "rounded"]


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
    def digest(self) -> str:
        """A name for the instance, which says nothing about itself."""
        return sha256(sdimacs_of(self.instance).encode()).hexdigest()

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
    assumed = _assumed(instance, assumptions)
    work = _Work(instance)
    for bound in instance.prefix:
        if bound.chance is not None and bound.chance in (0, 1):
            work.hold(bound.variable if bound.chance == 1 else -bound.variable)
    for literal in assumed:
        work.hold(literal)
    return work.finished()


def _assumed(instance: Instance, assumptions: Iterable[int]) -> list[int]:
    literals = list(dict.fromkeys(assumptions))
    inner = {bound.variable for bound in instance.prefix}
    if instance.prefix and instance.prefix[0].quantifier is Quantifier.EXISTS:
        inner -= {bound.variable for bound in next(instance.blocks)[1]}
    for literal in literals:
        if not 1 <= abs(literal) <= instance.variables or abs(literal) in inner:
            raise ValueError(f"{literal} is not a literal of the outermost existential block")
        if -literal in literals:
            raise ValueError(f"{literal} is assumed true and false")
    return literals


@dataclass(slots=True)
class _Work:
    """Clauses while units are put in; a clause that holds is None."""

    instance: Instance
    quantifiers: dict[int, Bound] = field(init=False)
    clauses: list[set[int] | None] = field(init=False)
    places: dict[int, list[int]] = field(init=False)
    fixed: dict[int, bool] = field(default_factory=dict)
    factor: Fraction = Fraction(1)
    waiting: deque[int] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.quantifiers = {bound.variable: bound for bound in self.instance.prefix}
        self.places = {}
        given = (set(clause) for clause in self.instance.clauses)
        self.clauses = [clause for clause in given if not any(-literal in clause for literal in clause)]
        for place, clause in enumerate(self.clauses):
            assert clause is not None
            for literal in clause:
                self.places.setdefault(literal, []).append(place)
            self._look(clause)

    def hold(self, literal: int) -> None:
        """The literal is true from now on."""
        self.waiting.append(literal)
        while self.waiting and self.factor:
            self._put(self.waiting.popleft())

    def finished(self) -> Plain:
        """What is left, numbered anew."""
        while self.waiting and self.factor:
            self._put(self.waiting.popleft())
        left = [] if not self.factor else [tuple(sorted(clause, key=abs)) for clause in self.clauses if clause]
        clauses = list(dict.fromkeys(left))  # only now, since taking literals away makes clauses equal
        numbers = sorted({abs(literal) for clause in clauses for literal in clause})
        new = {old: number for number, old in enumerate(numbers, start=1)}
        free = [Bound(variable=old, quantifier=Quantifier.EXISTS) for old in numbers if old not in self.quantifiers]
        bounds = [*free, *(bound for bound in self.instance.prefix if bound.variable in new)]
        return Plain(
            instance=Instance(
                variables=len(numbers),
                prefix=tuple(Bound(new[bound.variable], bound.quantifier, bound.chance) for bound in bounds),
                clauses=tuple(tuple(_renamed(literal, new) for literal in clause) for clause in clauses),
            ),
            factor=self.factor,
            numbers=tuple(numbers),
            fixed=self.fixed,
        )

    def _put(self, literal: int) -> None:
        truth = self.fixed.get(abs(literal))
        if truth is not None:
            if truth != (literal > 0):
                self.factor = Fraction(0)
            return
        self.fixed[abs(literal)] = literal > 0
        self.factor *= self._worth(literal)
        for place in self.places.get(literal, ()):
            self.clauses[place] = None
        for place in self.places.get(-literal, ()):
            clause = self.clauses[place]
            if clause is not None:
                clause.remove(-literal)
                self._look(clause)

    def _worth(self, literal: int) -> Fraction:
        """The factor of a clause of this one literal."""
        bound = self.quantifiers.get(abs(literal))
        if bound is None or bound.quantifier is Quantifier.EXISTS:
            return Fraction(1)
        if bound.chance is None:
            return Fraction(0)
        return bound.chance if literal > 0 else 1 - bound.chance

    def _look(self, clause: set[int]) -> None:
        if not clause:
            self.factor = Fraction(0)
        elif len(clause) == 1:
            self.waiting.extend(clause)


def _renamed(literal: int, new: Mapping[int, int]) -> int:
    return new[literal] if literal > 0 else -new[-literal]


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
