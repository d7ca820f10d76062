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
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Decimal, Inexact, localcontext
from fractions import Fraction
from itertools import groupby

from fairdsl.backends.ssat.instance import Bound, Instance

__all__ = ["decimal_of", "digits_of", "sdimacs_of"]

#: Places of a decimal that is written out.
_PLACES = 40
#: Significant digits of a rounded one: more than a double has.
_DIGITS = 17
#: Bits that are converted at once.
_AT_ONCE = 512


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
        if bound.chance is not None and _exact_places(bound.chance) is None:
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


def decimal_of(chance: Fraction) -> str:
    """A probability as a plain decimal: exactly where that takes few places, else rounded to the nearest."""
    places = _exact_places(chance)
    if places is None:
        places = _DIGITS + max(_zeros(chance), _zeros(1 - chance))
    digits = digits_of(round(chance * 10**places)).rjust(places + 1, "0")
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    return f"{whole}.{part}" if part else whole


def _exact_places(chance: Fraction) -> int | None:
    """The decimal places of a terminating decimal that has few."""
    rest, places = chance.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0 and power <= _PLACES:
            rest //= prime
            power += 1
        places = max(places, power)
    return places if rest == 1 and places <= _PLACES else None


def _zeros(number: Fraction) -> int:
    """Places between the point and the first digit that is not 0, or some more: a bit is .30103 digits."""
    return max(0, number.denominator.bit_length() - number.numerator.bit_length() + 1) * 30103 // 100000 + 1


def digits_of(number: int) -> str:
    """The decimal digits of a number from 0: millions of them in a second, where Python's own conversion takes hours.

    Halves of the bits are converted apart, and put together by the fast products of decimals.
    """
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = MAX_PREC, MAX_EMAX, MIN_EMIN
        context.traps[Inexact] = True
        return str(_decimal(number, number.bit_length(), {}))


def _decimal(number: int, bits: int, powers: dict[int, Decimal]) -> Decimal:
    if bits <= _AT_ONCE:
        return Decimal(number)
    half = bits // 2
    high = number >> half
    low = _decimal(number - (high << half), half, powers)
    return _decimal(high, bits - half, powers) * _power(half, powers) + low


def _power(bits: int, powers: dict[int, Decimal]) -> Decimal:
    """Two to that power, made of those that were needed before."""
    if bits not in powers:
        half = bits // 2
        powers[bits] = Decimal(2) ** bits if bits <= _AT_ONCE else _power(half, powers) * _power(bits - half, powers)
    return powers[bits]
