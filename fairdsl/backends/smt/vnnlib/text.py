"""VNN-LIB as text: decimal numbers and formulas, in the common subset of versions 1.0 and 2.0.

The two differ in how variables are declared and named; an inequality reads the same in both. Numbers are
decimals without exponents. One that has no finite decimal is never rounded inwards: bounds move outwards, and
inequalities between variables are multiplied by the denominators.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm

from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line

__all__ = ["asserted", "decimal", "exact_decimal", "written"]

#: Digits after the point of numbers that have no finite decimal.
_DIGITS = 24
#: Bounds with longer decimals than float32 numbers of usual size have are moved outwards too.
_LONG = 60


def decimal(value: Fraction, *, up: bool) -> str:
    """The value as a decimal: exactly where that is short, otherwise moved up (or down) by less than 1e-24."""
    digits = _finite_digits(value.denominator)
    scale = 10 ** (_DIGITS if digits is None or digits > _LONG else digits)
    whole, rest = divmod(value.numerator * scale, value.denominator)
    return _pointed(whole + (bool(rest) and up), scale)


def exact_decimal(value: Fraction) -> str:
    """The value as a decimal; ValueError where it has no finite one."""
    digits = _finite_digits(value.denominator)
    if digits is None:
        raise ValueError(f"{value} has no finite decimal")
    return _pointed(value.numerator * 10**digits // value.denominator, 10**digits)


def _pointed(whole: int, scale: int) -> str:
    integer, fraction = divmod(abs(whole), scale)
    places = len(str(scale)) - 1
    text = f"{integer}.{fraction:0{places}d}".rstrip("0") if places else f"{integer}."
    return ("-" if whole < 0 else "") + (text + "0" if text.endswith(".") else text)


def asserted(formula: Formula) -> Iterator[str]:
    """One ``assert`` for each conjunct."""
    for part in formula.parts if isinstance(formula, All) else (formula,):
        yield f"(assert {written(part)})"


def written(formula: Formula) -> str:
    """The formula; ``or`` and ``and`` always have parts, an empty one is refused."""
    if isinstance(formula, Line):
        return _inequality(formula)
    if not formula.parts:
        raise ValueError("a formula without variables has no place in a file")
    connective = "and" if isinstance(formula, All) else "or"
    return f"({connective} {' '.join(written(part) for part in formula.parts)})"


def _inequality(line: Line) -> str:
    """``line >= 0``, as a bound where it is about one variable."""
    if not line.terms:
        raise ValueError("an inequality without variables has no place in a file")
    if len(line.terms) == 1:
        ((name, factor),) = line.terms
        bound = -line.constant / factor
        return f"(>= {name} {decimal(bound, up=False)})" if factor > 0 else f"(<= {name} {decimal(bound, up=True)})"
    if any(_finite_digits(factor.denominator) is None for _, factor in line.terms):
        line = line.scaled(Fraction(lcm(*(factor.denominator for _, factor in line.terms))))
    summands = " ".join(name if factor == 1 else f"(* {exact_decimal(factor)} {name})" for name, factor in line.terms)
    return f"(>= (+ {summands}) {decimal(-line.constant, up=False)})"


def _finite_digits(denominator: int) -> int | None:
    """How many digits after the point the decimal needs; None where it has no end."""
    digits = 0
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        digits = max(digits, power)
    return digits if denominator == 1 else None
