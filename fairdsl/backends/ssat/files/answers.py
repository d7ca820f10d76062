"""What solvers and counters printed, as numbers that the answer lies between.

====================================================== ==========================================================
line                                                   read as
====================================================== ==========================================================
``> Satisfying probability: 6.000000e-01``             ssatABC's value, or ``> Best upper bound:`` and ``lower``
``# satisfying probability = 0.6``                     SharpSSAT's value
what ``fairdsl solve`` prints, as text or ``--json``   exactly, or the bounds
``c s exact arb frac 3/5``, ``c o exact arb 3/5``      exactly
``c s exact arb int 26422``                            a whole number, exactly
``c s exact arb float 6.0e-01``, ``double`` likewise   the number, one unit of its last place up and down
``c s log10-estimate -0.22``                           10 to that power, with one unit of its last place, unless a
                                                       line ``c s approx`` says that it is not an exact count
``s UNSATISFIABLE``                                    0, in counts
``0.6``, ``3/5``, alone                                one unit of its last place up and down; exactly
====================================================== ==========================================================

A number that was computed in floating point is widened by the analysis of :mod:`fairdsl.backends.ssat.solvers.adapters`
as well: ``4 u n`` for n chances, where u is 2^-53, or 2^-24 of SharpSSAT, and ``4 u m`` for the arithmetic, m variables
and numbers of at most 1 (of the two programs their 10^-6 covers it). A logarithm in double is off by 2^-53 of itself
or some such multiple, which a part of 10^-12 covers down to 10^-300. What rounding the probabilities in the file may
have moved comes on top, except for ``fairdsl solve``, which reads them exactly. One unit of the last place covers
truncated digits, too. Two lines of one kind with different numbers are not an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import prod
from typing import Any

from fairdsl.backends.encoding import Answer
from fairdsl.backends.solved import Bounds, Solved
from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.reading import number_of, unit_of
from fairdsl.backends.ssat.solvers.adapters import ADAPTERS, DOUBLE, Adapter
from fairdsl.backends.ssat.writing import ROUNDING
from fairdsl.codec import MisfitError
from fairdsl.ir.enclosure import Enclosure

_NUMBER = r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?"
_ALONE = re.compile(rf"\s*({_NUMBER}|[0-9]+/[0-9]+)\s*")
_EXACTLY = re.compile(r"^c [so] exact arb(?: frac)? ([0-9]+/[0-9]+)\s*$", re.MULTILINE)
_WHOLE = re.compile(r"^c s exact arb int ([0-9]+)\s*$", re.MULTILINE)
_FLOAT = re.compile(rf"^c s exact (?:arb|double|quadruple) (?:float|prec-sci) ({_NUMBER})\s*$", re.MULTILINE)
_LOG10 = re.compile(rf"^c s log10-estimate ({_NUMBER}|-inf)\s*$", re.MULTILINE)
_UNSATISFIABLE = re.compile(r"^s UNSATISFIABLE\s*$", re.MULTILINE)
_SOLVED = re.compile(r"^.*   (?P<value>\S.*?)   [0-9,]+ variables?, [0-9,]+ clauses?$", re.MULTILINE)
_BETWEEN = re.compile(rf"from ({_NUMBER}) to ({_NUMBER})")
_EXACT = re.compile(rf"(?:{_NUMBER} = )?(?P<exact>[0-9]+/[0-9]+|[0-9]+(?:\.[0-9]+)?)(?:, about .*)?")
_ABOUT = re.compile(rf"about ({_NUMBER})")
_APPROXIMATE = re.compile(r"^c s approx\b", re.MULTILINE)
#: Of powers of ten: digits they are computed with, and how far they, or a logarithm in double, may be off.
_POWERS, _POWER_ERROR = Context(prec=60), Fraction(1, 10**12)
_MOST_EXPONENT = 10_000


@dataclass(frozen=True, slots=True)
class _Said:
    """A number between two; ``computed`` in floating point; the one who read the file took probabilities exactly."""

    low: Fraction
    high: Fraction
    computed: bool = True
    exactly: bool = False
    choice: Mapping[int, bool] | None = None


def answer_of_value(output: str, about: Mapping[str, Any]) -> Answer:
    """To an instance in SDIMACS."""
    said = _fairdsl(output)
    if said is None and not output.lstrip().startswith("{"):
        for adapter in (each for each in ADAPTERS if each.programs):
            found = _adapted(adapter, output, about)
            if found is not None:
                return found
        said = _alone(output)
    return _answer(said, about)


def answer_of_bounds(found: Bounds, about: Mapping[str, Any]) -> Answer:
    """What a solver found that has not been printed."""
    return _answer(_found(found), about)


def answer_of_weight(output: str, about: Mapping[str, Any]) -> Answer:
    """To a weighted count."""
    return _answer(_fairdsl(output) or _counted(output, whole=False), about)


def answer_of_count(output: str, about: Mapping[str, Any]) -> Answer:
    """To an unweighted count, over the number that makes it a probability."""
    said = _fairdsl(output) or _counted(output, whole=True)
    if said is None:
        return _NOT_UNDERSTOOD
    out_of = Fraction(prod(int(probability(each)) for each in about["out_of"]))
    return _bounded(said.low / out_of, said.high / out_of)


def probability(text: str) -> Fraction:
    """A number that this package wrote itself, however long; ValueError for anything else."""
    found = number_of(text)
    if found is None:
        raise ValueError(f"{text[:40]} is not a number")
    return found


_NOT_UNDERSTOOD = Answer(status="malformed", detail="its output has no answer that is understood")


def _answer(said: _Said | None, about: Mapping[str, Any]) -> Answer:
    if said is None:
        return _NOT_UNDERSTOOD
    steps = int(about["chances"]) + int(about["variables"])
    error = 4 * DOUBLE * steps if said.computed else Fraction(0)
    if not said.exactly:
        error += ROUNDING * int(about["rounded"])
    return _bounded(said.low - error, said.high + error, said.choice)


def _bounded(low: Fraction, high: Fraction, choice: Mapping[int, bool] | None = None) -> Answer:
    """Within 0 to 1; a number that is not a probability whatever its error was is not an answer."""
    if high < 0 or low > 1 or low > high:
        return Answer(status="malformed", detail="it is not a probability")
    values = {str(variable): "true" if truth else "false" for variable, truth in (choice or {}).items()}
    bounds = Enclosure(low=max(Fraction(0), low), high=min(Fraction(1), high))
    return Answer(status="value", values=values, bounds=bounds)


def _adapted(adapter: Adapter, output: str, about: Mapping[str, Any]) -> Answer | None:
    """What an adapter reads, which asks for the prefix alone."""
    choices = [int(each) for each in about["choices"]]
    count, chances = int(about["variables"]), int(about["chances"])
    others = [each for each in range(1, count + 1) if each not in set(choices)][:chances]
    prefix = [*(Bound(each, Quantifier.EXISTS) for each in choices)]
    prefix += [Bound(each, Quantifier.RANDOM, Fraction(1, 2)) for each in others]
    if not prefix:
        return None
    printed = adapter.read(output, Instance(variables=count, prefix=tuple(prefix), clauses=()))
    if printed is None:
        return None
    moved = ROUNDING * int(about["rounded"])
    return _bounded(printed.low - moved, printed.high + moved, printed.choice)


def _fairdsl(output: str) -> _Said | None:
    """What ``fairdsl solve`` prints."""
    if output.lstrip().startswith("{"):
        return _solved_as_json(output)
    found = _SOLVED.findall(output)
    if len(found) != 1:
        return None
    if match := _BETWEEN.fullmatch(found[0]):
        low, high = map(number_of, match.groups())
        return None if low is None or high is None else _Said(low, high, computed=False, exactly=True)
    if match := _EXACT.fullmatch(found[0]):
        exact = number_of(match["exact"])
        return None if exact is None else _Said(exact, exact, computed=False, exactly=True)
    match = _ABOUT.fullmatch(found[0])
    rounded = None if match is None else _rounded(match[1])
    return None if rounded is None else _Said(rounded.low, rounded.high, computed=False, exactly=True)


def _solved_as_json(output: str) -> _Said | None:
    """The document that it writes."""
    try:
        found = Solved.from_json(output).found
    except MisfitError:
        return None
    return _found(found) if isinstance(found, Bounds) else None


def _found(found: Bounds) -> _Said:
    choice = {each.variable: each.true for each in found.choice or ()}
    return _Said(found.low, found.high, computed=False, exactly=True, choice=choice or None)


def _counted(output: str, *, whole: bool) -> _Said | None:
    """What a model counter prints: the best of its lines that gives a number."""
    if _APPROXIMATE.search(output):
        return None
    for pattern in (_WHOLE, _EXACTLY):
        numbers = set(map(number_of, pattern.findall(output)))
        if numbers:
            number = numbers.pop()
            return None if numbers or number is None else _Said(number, number, computed=False)
    for ranges in (_ranges(_FLOAT.findall(output), _rounded), _ranges(_LOG10.findall(output), _power_of_ten)):
        if ranges:
            found = ranges.pop()
            return None if ranges or found is None else _Said(found.low, found.high)
    if _UNSATISFIABLE.search(output):
        return _Said(Fraction(0), Fraction(0), computed=False)
    found_alone = _alone(output)
    if whole and found_alone is not None and re.fullmatch(r"\s*[0-9]+\s*", output):
        number = number_of(output.strip())
        return None if number is None else _Said(number, number, computed=False)
    return None if whole else found_alone


def _ranges(texts: list[str], read: Any) -> set[Enclosure | None]:
    return {read(text) for text in texts}


def _alone(output: str) -> _Said | None:
    """A number and nothing else."""
    match = _ALONE.fullmatch(output)
    if match is None:
        return None
    if "/" in match[1]:
        number = number_of(match[1])
        return None if number is None else _Said(number, number, computed=False)
    rounded = _rounded(match[1])
    return None if rounded is None else _Said(rounded.low, rounded.high)


def _rounded(text: str) -> Enclosure | None:
    """One unit of the last printed place up and down."""
    number = number_of(text)
    if number is None:
        return None
    unit = unit_of(text)
    return Enclosure(low=number - unit, high=number + unit)


def _power_of_ten(text: str) -> Enclosure | None:
    if text == "-inf":
        return Enclosure.exactly(Fraction(0))
    ends = _rounded(text)
    if ends is None or any(abs(end) > _MOST_EXPONENT for end in ends):
        return None
    low, high = (Fraction(_POWERS.power(Decimal(10), _decimal(end))) for end in ends)
    return Enclosure(low=low * (1 - _POWER_ERROR), high=high * (1 + _POWER_ERROR))


def _decimal(number: Fraction) -> Decimal:
    return _POWERS.divide(Decimal(number.numerator), Decimal(number.denominator))
