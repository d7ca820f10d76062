"""Every prefix of up to six variables over a random formula: the embedded solver, and the definition.

There are 3 + 9 + .. + 729 = 1,092 words over `e`, `a` and `r`; each is the prefix of one formula, whose literals and
probabilities are drawn from the seed. Clauses may hold a literal twice or with its negation, occur twice, and be empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier

__all__ = ["Compared", "compared", "instances", "value"]

#: Variables of the longest prefixes.
LONGEST = 6
CHANCES = tuple(Fraction(part) for part in ("0", "1/1000", "17/100", "1/3", "1/2", "9/10", "1"))


@dataclass(frozen=True, kw_only=True)
class Compared:
    """How many instances there were, those with a value between 0 and 1, and the first word with two values."""

    instances: int
    between: int
    wrong: str | None


def compared(seed: int) -> Compared:
    """The solver's value of each instance beside the definition's, as fractions."""
    count = between = 0
    wrong: str | None = None
    for asked in instances(seed):
        found, truth = Engine(asked).solve(), value(asked)
        count += 1
        between += 0 < truth < 1
        if (found.low, found.high) != (truth, truth):
            wrong = wrong or "".join(each.quantifier.value for each in asked.prefix)
    return Compared(instances=count, between=between, wrong=wrong)


def instances(seed: int) -> Iterator[Instance]:
    """One for each word."""
    for size in range(1, LONGEST + 1):
        for place, word in enumerate(product(Quantifier, repeat=size)):
            yield _drawn(word, np.random.default_rng([seed, size, place]))


def _drawn(word: Sequence[Quantifier], random: np.random.Generator) -> Instance:
    size = len(word)
    prefix = []
    for variable, quantifier in zip((random.permutation(size) + 1).tolist(), word, strict=True):
        chance = CHANCES[int(random.integers(len(CHANCES)))] if quantifier is Quantifier.RANDOM else None
        prefix.append(Bound(variable, quantifier, chance))
    lengths = random.choice([0, 1, 2, 3, 4], size=int(random.integers(1, size + 3)), p=[0.005, 0.045, 0.3, 0.4, 0.25])
    clauses: list[Clause] = [
        tuple((random.integers(1, size + 1, length) * random.choice([-1, 1], length)).tolist()) for length in lengths
    ]
    return Instance(variables=size, prefix=tuple(prefix), clauses=tuple(clauses))


def value(instance: Instance) -> Fraction:
    """The definition: both truths of every variable, from the outside in."""
    return _below(instance.prefix, {}, instance.clauses)


def _below(prefix: Sequence[Bound], truths: Mapping[int, bool], clauses: Sequence[Clause]) -> Fraction:
    if not prefix:
        return Fraction(all(any(truths[abs(each)] == (each > 0) for each in clause) for clause in clauses))
    first, rest = prefix[0], prefix[1:]
    no, yes = (_below(rest, {**truths, first.variable: truth}, clauses) for truth in (False, True))
    if first.quantifier is Quantifier.EXISTS:
        return max(no, yes)
    if first.chance is None:
        return min(no, yes)
    return first.chance * yes + (1 - first.chance) * no
