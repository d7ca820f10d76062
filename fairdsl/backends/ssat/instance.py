"""Stochastic satisfiability: a prefix of choices and chances over a formula in conjunctive normal form.

The value of an instance is that of its prefix from the outside in: for an existential variable the greater of the
two values that its truths leave, for a universal one the smaller, for a random one their mean by its probability;
inside of all stands 1 where every clause holds and 0 elsewhere [Papadimitriou 1985; Littman, Majercik and
Pitassi 2001].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import chain

from fairdsl.clock import Work, look, spend

#: What is counted where effort is given: a clause is made, simplified, written, read and prepared.
_CLAUSES = Work("clauses written or read", 0.6)
#: Instances of so many clauses take so long that the clock is looked at.
_MANY = 1000

#: Non-zero literals, as in DIMACS: ``-3`` is the negation of variable 3.
Clause = tuple[int, ...]


class Quantifier(Enum):
    """How a variable gets its truth."""

    EXISTS = "e"
    FORALL = "a"
    RANDOM = "r"


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable of the prefix; ``chance`` is its probability of being true, None unless it is random."""

    variable: int
    quantifier: Quantifier
    chance: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.chance is not None) != (self.quantifier is Quantifier.RANDOM):
            raise ValueError("random variables have a probability, and no others")
        if self.chance is not None and not 0 <= self.chance.numerator <= self.chance.denominator:
            raise ValueError("a probability lies between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """An SSAT instance in prenex conjunctive normal form.

    ``prefix`` binds each variable of 1 .. ``variables`` at most once, outermost first. A variable that it leaves
    out is existential and outermost, as solvers take it. ``names`` says what variables stand for and ``comments``
    what the file is about: both are for readers, and no part of the instance.
    """

    variables: int
    prefix: tuple[Bound, ...]
    clauses: tuple[Clause, ...]
    names: dict[int, str] = field(default_factory=dict, compare=False)
    comments: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        bound = [each.variable for each in self.prefix]
        if len(set(bound)) < len(bound):
            raise ValueError("a variable is bound twice")
        if any(not 1 <= variable <= self.variables for variable in bound):
            raise ValueError("a variable of the prefix does not exist")
        literals = set(chain.from_iterable(self.clauses))
        if 0 in literals or any(abs(literal) > self.variables for literal in literals):
            raise ValueError("a clause has a literal of no variable")
        spend(_CLAUSES, len(self.clauses))
        if len(self.clauses) > _MANY:
            look()

    def closed_up(self) -> tuple[Instance, tuple[int, ...]]:
        """An equal instance of the variables that a bound or a clause mentions, and the numbers that they have here.

        The others change no value: nothing may take time or memory for each of them, for a header says how many there
        are in a few bytes.
        """
        mentioned = {bound.variable for bound in self.prefix}
        for clause in self.clauses:
            mentioned.update(map(abs, clause))
        if len(mentioned) == self.variables:
            return self, tuple(range(1, self.variables + 1))
        numbers = tuple(sorted(mentioned))
        at = {number: place for place, number in enumerate(numbers, start=1)}
        closed = Instance(
            variables=len(numbers),
            prefix=tuple(Bound(at[bound.variable], bound.quantifier, bound.chance) for bound in self.prefix),
            clauses=tuple(tuple(at[each] if each > 0 else -at[-each] for each in clause) for clause in self.clauses),
        )
        return closed, numbers

    @property
    def blocks(self) -> Iterator[tuple[Quantifier, tuple[Bound, ...]]]:
        """Neighbouring variables of one quantifier, outermost first."""
        start = 0
        for place in range(1, len(self.prefix) + 1):
            if place == len(self.prefix) or self.prefix[place].quantifier is not self.prefix[start].quantifier:
                yield self.prefix[start].quantifier, self.prefix[start:place]
                start = place
