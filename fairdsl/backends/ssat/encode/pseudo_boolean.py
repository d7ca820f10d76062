"""Sums of weighted literals by PySAT's encodings: binary adders and mixed-radix sorters.

Most encodings of pseudo-Boolean constraints only keep satisfiability; under chances every assignment must extend in
exactly one way. Of PySAT's, ``adder`` and ``mixedradix`` do; nothing upstream promises it, so a test counts their
models (tests/ssat/test_encode_pseudo_boolean.py).

They write constraints, not literals. Theorem: let S be a sum of literals with positive whole weights, T their total
and L a variable. ``S + b * (not L) >= b`` holds iff L implies S >= b, and ``(T - S) + (T - b + 1) * L >= T - b + 1``
holds iff S >= b implies L; so both together define L as S >= b.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates, Literal

__all__ = ["TooLargeError", "sum_reaches"]

#: PySAT takes weights of 64 bits; each constraint adds one weight to those of the sum.
_LARGEST = 1 << 61


class TooLargeError(Exception):
    """A sum that the method at hand does not encode; the message says why, for users."""


def sum_reaches(gates: Gates, terms: Iterable[tuple[Literal, int]], bound: int, encoding: str) -> Literal:
    """The literal of ``sum of the weights of true literals >= bound``; ``encoding`` is ``adder`` or ``mixedradix``.

    Raises :class:`TooLargeError` for totals of more than 61 bits.
    """
    weights, bound = _positive(terms, bound)
    total = sum(weights.values())
    if bound <= 0:
        return TRUE
    if bound > total:
        return FALSE
    if total >= _LARGEST:
        raise TooLargeError("the whole weights of a sum need more than 61 bits together")
    literals, numbers = list(weights), list(weights.values())
    top = gates.variables + 1
    clauses = _clauses([*literals, -top], [*numbers, bound], bound, top, encoding)
    last = max((abs(literal) for clause in clauses for literal in clause), default=top)
    other = total - bound + 1
    clauses += _clauses([*(-each for each in literals), top], [*numbers, other], other, max(last, top), encoding)
    return _defined(gates, top, clauses)


def _positive(terms: Iterable[tuple[Literal, int]], bound: int) -> tuple[dict[Literal, int], int]:
    """Positive weights of literals of distinct variables, and the bound that they must reach instead."""
    by_variable: dict[int, int] = {}
    for literal, weight in terms:
        variable = abs(literal)
        if literal < 0:  # the negation weighs what is left
            bound -= weight
            weight = -weight
        by_variable[variable] = by_variable.get(variable, 0) + weight
    bound -= by_variable.pop(TRUE, 0)
    bound += sum(-weight for weight in by_variable.values() if weight < 0)
    return {v if weight > 0 else -v: abs(weight) for v, weight in by_variable.items() if weight}, bound


def _clauses(literals: list[Literal], weights: list[int], bound: int, top: int, encoding: str) -> list[list[int]]:
    from pysat.pb import EncType, PBEnc

    kind = {"adder": EncType.adder, "mixedradix": EncType.mixedradix}[encoding]
    found = PBEnc.atleast(lits=literals, weights=weights, bound=bound, top_id=top, encoding=kind)
    return [list(clause) for clause in found.clauses]


def _defined(gates: Gates, top: int, clauses: Sequence[Sequence[int]]) -> Literal:
    """``top`` and the encoder's own variables as defined ones; numbers that no clause has are passed over."""
    own = sorted({abs(literal) for clause in clauses for literal in clause if abs(literal) >= top} | {top})
    number = {variable: place for place, variable in enumerate(own, start=top)}

    def renumbered(literal: int) -> int:
        variable = number.get(abs(literal), abs(literal))
        return variable if literal > 0 else -variable

    return gates.defined_together(len(own), ([renumbered(each) for each in clause] for clause in clauses))[0]
