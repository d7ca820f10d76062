"""Ganak: counting of models that differ in the random variables, with or without weights (package `pyganak`).

Sharma, Roy, Soos and Meel, *GANAK: a scalable probabilistic exact model counter*, IJCAI 2019.

Theorem (counting chances). Let random variable i be true with probability ``a_i / d_i``. Give it
``m_i`` fresh variables, read as a number y_i of m_i bits, and the clauses that say: ``y_i < a_i`` where
it is true and ``y_i < d_i - a_i`` where it is false. Then a truth assignment of the random variables has the
product of a_i and d_i - a_i extensions to the fresh ones, so that the number of assignments to random and fresh
variables under which the clauses can be satisfied is the value times the product of all d_i. The counter
projects to these variables: innermost choices are there if any choice is.

So there are chances, and choices within them, and nothing else. The counts are whole numbers of any size; the weighted
counter takes and returns double. Both rest on Ganak's word that no two components of its cache share a hash,
which its authors give up to a probability that they keep very small.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

from fairdsl.backends.ssat.instance import Clause, Instance, Quantifier
from fairdsl.backends.ssat.solvers.adapter import DOUBLE, Printed, shape, widened
from fairdsl.backends.ssat.solvers.library import Valued, called, installed, printed

__all__ = ["Counting", "Ganak", "WeightedGanak", "below", "count", "counting", "weigh"]

#: Rounding to double of a sum that was formed with 128 bits: far more than 2^-53.
_DOUBLE_RESULT = Fraction(1, 10**12)


class Ganak:
    """The adapter: exact counts."""

    name = "pyganak"
    programs: tuple[str, ...] = ()
    digits: int | None = None
    about = "by exact counts, up to collisions of hashes in Ganak's cache"

    def missing(self) -> str | None:
        """The package."""
        return None if installed("pyganak") else "pyganak"

    def unfit(self, instance: Instance) -> str | None:
        """Only R and R E."""
        blocks = shape(instance)
        if blocks in ("R", "RE"):
            return None
        return f"it counts, for the prefixes R and R E, and this one is {' '.join(blocks)}"

    def command(self, program: str, folder: Path, instance: Instance) -> list[str]:
        """:func:`count` in a process."""
        return called(__name__, "count", folder, instance)

    def read(self, output: str, instance: Instance) -> Printed | None:
        """The value."""
        found = printed(output)
        return None if found is None or found.value > 1 else Printed(low=found.value, high=found.value)


class WeightedGanak(Ganak):
    """The adapter: weights in double precision."""

    name = "pyganak-double"
    about = "to double precision"

    def command(self, program: str, folder: Path, instance: Instance) -> list[str]:
        """:func:`weigh` in a process."""
        return called(__name__, "weigh", folder, instance)

    def read(self, output: str, instance: Instance) -> Printed | None:
        """The value, widened."""
        found = printed(output)
        if found is None:
            return None
        return widened(found.value, found.value, instance, unit=DOUBLE, relative=_DOUBLE_RESULT)


@dataclass(frozen=True, slots=True)
class Counting:
    """An instance as a count: the models of ``clauses`` that differ in ``kept``, over the product of ``out_of``."""

    variables: int
    clauses: tuple[Clause, ...]
    kept: tuple[int, ...]
    out_of: tuple[int, ...]


def counting(instance: Instance) -> Counting:
    """The count of the theorem, for an instance of chances, and choices within them."""
    clauses, kept, denominators, variables = list(instance.clauses), list[int](), list[int](), instance.variables
    for bound in instance.prefix:
        if bound.chance is None:
            continue
        true, out_of = bound.chance.numerator, bound.chance.denominator
        bits = (max(true, out_of - true) - 1).bit_length()
        fresh = tuple(range(variables + 1, variables + bits + 1))
        clauses += below(fresh, true, -bound.variable) + below(fresh, out_of - true, bound.variable)
        kept += [bound.variable, *fresh]
        denominators.append(out_of)
        variables += bits
    return Counting(variables, tuple(clauses), tuple(kept), tuple(denominators))


def count(instance: Instance) -> Valued:
    """The value of an instance of chances, and choices within them, by counting models."""
    import pyganak

    asked = counting(instance)
    counter = pyganak.Counter()
    counter.new_vars(asked.variables)
    counter.add_clauses(list(asked.clauses))
    counter.set_sampling_set(list(asked.kept))
    return Valued(Fraction(int(counter.count()), prod(asked.out_of)))


def below(number: tuple[int, ...], limit: int, unless: int) -> list[Clause]:
    """Clauses that say: ``unless`` holds or the number, lowest bit first, is less than the limit (at least 1).

    A number exceeds ``limit - 1`` exactly if some bit is 1 where that one has 0, and all higher ones are at
    least as great.
    """
    most = limit - 1
    clauses = []
    for place, bit in enumerate(number):
        if not most >> place & 1:
            higher = [-each for above, each in enumerate(number) if above > place and most >> above & 1]
            clauses.append((unless, -bit, *higher))
    return clauses


def weigh(instance: Instance) -> Valued:
    """The value of such an instance by weighted counting in floating point, before it is widened."""
    import pyganak

    counter = pyganak.WeightedCounter()
    counter.new_vars(instance.variables)
    counter.add_clauses(list(instance.clauses))
    random = [bound for bound in instance.prefix if bound.quantifier is Quantifier.RANDOM]
    for bound in random:
        assert bound.chance is not None
        counter.set_lit_weight(bound.variable, float(bound.chance))
        counter.set_lit_weight(-bound.variable, float(1 - bound.chance))
    counter.set_sampling_set([bound.variable for bound in random])
    return Valued(Fraction(counter.count()))
