"""Instances as SDIMACS text: the same text for the same instance, in the subset that every solver reads.

Probabilities are plain decimals, since some solvers stop at ``1e-05``. One with at most 40 places is written out. Any
other is rounded to as many places as leave it, and 1 minus it, 17 significant digits: neither a small chance nor a
small risk becomes a certainty. Beside it stands what it is exactly, in a comment that fairdsl honours when it reads
the file.

    c COMMENT
    c name VARIABLE TEXT
    c exact VARIABLE NUMERATOR/DENOMINATOR
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from fairdsl.backends.ssat.instance import Bound, Instance
from fairdsl.ir.plain_decimals import decimal_of, exact_places
from fairdsl.source.numbers import digits_of

__all__ = ["sdimacs_of"]


def sdimacs_of(instance: Instance) -> str:
    """The text, with a line break at its end."""
    return "".join(f"{line}\n" for line in _lines(instance))


def _lines(instance: Instance) -> Iterator[str]:
    for comment in instance.comments:
        # What begins like the two kinds of comments that are read gets a sign in front, so that it is none of them.
        for line in comment.splitlines() or [""]:
            words = line.strip()
            yield f"c # {words}" if words.startswith(("name", "exact")) else f"c {words}".rstrip()
    for variable in sorted(instance.names):
        yield f"c name {variable} {' '.join(instance.names[variable].split())}".rstrip()
    for bound in sorted(instance.prefix, key=lambda bound: bound.variable):
        if bound.chance is not None and exact_places(bound.chance) is None:
            yield f"c exact {bound.variable} {digits_of(bound.chance.numerator)}/{digits_of(bound.chance.denominator)}"
    yield f"p cnf {instance.variables} {len(instance.clauses)}"
    for kind, bounds in groupby(instance.prefix, key=_kind):
        yield f"{kind} {' '.join(str(bound.variable) for bound in bounds)} 0"
    for clause in instance.clauses:
        yield " ".join(map(str, (*clause, 0)))


def _kind(bound: Bound) -> str:
    """The beginning of the line that binds a variable; neighbours with the same one share it."""
    letter = bound.quantifier.value
    return letter if bound.chance is None else f"{letter} {decimal_of(bound.chance)}"
