"""The definition of an instance's value, by enumeration of its prefix: naive, exact, nothing shared with the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier

__all__ = ["assuming", "value"]


def value(instance: Instance, truths: Mapping[int, bool] | None = None) -> Fraction:
    """The value, where ``truths`` are fixed in place of their quantifiers."""
    known = dict(truths or {})
    bound = {each.variable for each in instance.prefix}
    free = [number for number in range(1, instance.variables + 1) if number not in bound]
    prefix = [*(Bound(number, Quantifier.EXISTS) for number in free), *instance.prefix]
    return _below([each for each in prefix if each.variable not in known], known, instance)


def _below(prefix: list[Bound], truths: dict[int, bool], instance: Instance) -> Fraction:
    if not prefix:
        holds = all(any(truths[abs(literal)] == (literal > 0) for literal in clause) for clause in instance.clauses)
        return Fraction(int(holds))
    first, *rest = prefix
    no, yes = (_below(rest, truths | {first.variable: truth}, instance) for truth in (False, True))
    match first.quantifier:
        case Quantifier.EXISTS:
            return max(no, yes)
        case Quantifier.FORALL:
            return min(no, yes)
        case Quantifier.RANDOM:
            assert first.chance is not None
            return first.chance * yes + (1 - first.chance) * no


def assuming(instance: Instance, literals: Iterable[int]) -> Instance:
    """The instance with literals as further clauses: for existential ones, the same as substituting them."""
    return replace(instance, clauses=(*instance.clauses, *((literal,) for literal in literals)))
