"""SMT-LIB 2.6 terms as text: exact numbers, symbols, and the few connectives that the scripts need.

Numbers are printed as the standard wants them: no exponents, no signed literals, reals with a decimal
point. ``0.1f`` is ``(/ 13421773.0 134217728.0)``. Simplifications are limited to units of the connective,
so that what is printed can be read against the spec.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from hashlib import sha256

#: A well-formed term or symbol.
Term = str

TRUE: Term = "true"
FALSE: Term = "false"

_SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*\Z")


def symbol(name: str) -> Term:
    """The name as a symbol, in bars where it needs them. It must not contain ``|`` or a backslash."""
    return name if _SIMPLE.match(name) else f"|{name}|"


def integer(value: int) -> Term:
    """An Int constant."""
    return str(value) if value >= 0 else f"(- {-value})"


def rational(value: Fraction) -> Term:
    """A Real constant."""
    size = abs(value)
    text = f"{size.numerator}.0"
    if size.denominator != 1:
        text = f"(/ {text} {size.denominator}.0)"
    return text if value >= 0 else f"(- {text})"


def product(factor: Fraction, term: Term, *, whole: bool = False) -> Term:
    """``factor * term``; ``whole`` for Int terms."""
    if factor == 1:
        return term
    if factor == -1:
        return f"(- {term})"
    return f"(* {integer(factor.numerator) if whole else rational(factor)} {term})"


def total(terms: Iterable[Term], constant: Fraction = Fraction(0), *, whole: bool = False) -> Term:
    """The sum; a constant of zero is left out unless it is alone."""
    parts = list(terms)
    if constant or not parts:
        parts.append(integer(constant.numerator) if whole else rational(constant))
    return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"


def conjunction(parts: Iterable[Term]) -> Term:
    """All of them; no parts: true."""
    return _joined("and", parts, unit=TRUE, zero=FALSE)


def disjunction(parts: Iterable[Term]) -> Term:
    """Some of them; no parts: false."""
    return _joined("or", parts, unit=FALSE, zero=TRUE)


def _joined(connective: str, parts: Iterable[Term], *, unit: Term, zero: Term) -> Term:
    kept = [part for part in parts if part != unit]
    if zero in kept:
        return zero
    if len(kept) <= 1:
        return kept[0] if kept else unit
    return f"({connective} {' '.join(kept)})"


def negation(part: Term) -> Term:
    """Its negation."""
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    return f"(not {part})"


# ---- answers that say which script they answer ---------------------------------------------------
#
# Answers that say which script they answer.
#
# A script begins with ``(echo "fairdsl-DIGEST")``, the digest being of everything else in it. Solvers print that string
# before their status, so an output carries the digest of the script that it is about: kept elsewhere, renamed, or left
# over from an earlier spec, it is not taken for an answer to another script. The name of a file is no such bond.

_DIGITS = 16
_MARK = rf"fairdsl-[0-9a-f]{{{_DIGITS}}}"
#: Some solvers print the string with its quotes.
_PRINTED = re.compile(rf'^\s*"?({_MARK})"?\s*$', re.MULTILINE)
_COMMAND = re.compile(rf'^\(echo "({_MARK})"\)$', re.MULTILINE)


def mark(text: str) -> str:
    """What the script without its echo is to print."""
    return f"fairdsl-{sha256(text.encode()).hexdigest()[:_DIGITS]}"


def echo(text: str) -> str | None:
    """What a script says that it prints; None for one that says nothing, of another origin for example."""
    found = _COMMAND.search(text)
    return found[1] if found else None


def echoed(output: str) -> frozenset[str]:
    """The marks of all scripts that the output is about; none where the solver has no `echo`."""
    return frozenset(_PRINTED.findall(output))
