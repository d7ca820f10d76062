"""From the text of a number to the number, wherever somebody else wrote it, and back.

``Fraction("1e999999999")`` computes for hours what eleven characters say, and Python refuses to convert more than 4300
digits with an error of its own. So nothing converts texts that are read but this: how long a number is, written out in
full, is known from its text, and what is too long is refused before it is computed.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Decimal, Inexact, localcontext
from fractions import Fraction
from itertools import zip_longest

#: Digits that a number has at most, and the highest power of ten, either way. Every float64 written out in full has
#: fewer.
LONGEST = 1_200

#: Python converts numbers of no more than 4300 digits at once.
_AT_ONCE = 4_000
#: Bits that become digits at once.
_BITS = 512
_DECIMAL = re.compile(r"(?P<sign>[-+]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[-+]?[0-9]+))?")
_RATIO = re.compile(r"(?P<above>[-+]?[0-9]+)/(?P<below>[0-9]+)")


class TooLongError(ValueError):
    """A number has more digits, or a greater power of ten, than are read."""


def read_number(text: str, *, longest: int = LONGEST, power: int = LONGEST) -> Fraction:
    """``3``, ``-1.5e-3``, ``.5`` or ``1/3``, exactly; ASCII digits alone, and nothing around them.

    ValueError for any other text; TooLongError, at once, for more than ``longest`` digits in a decimal or in a part of
    a quotient, and for a power of ten beyond ``power``.
    """
    if quotient := _RATIO.fullmatch(text):
        below = read_whole(quotient["below"], longest=longest)
        if not below:
            raise ValueError("nothing is divided by zero")
        return Fraction(read_whole(quotient["above"], longest=longest), below)
    decimal = _DECIMAL.fullmatch(text)
    if decimal is None or not (decimal["whole"] or decimal["part"]):
        raise ValueError("this is not a number")
    part, raised = decimal["part"] or "", decimal["power"] or "0"
    if too_long(raised, len(str(power))) or abs(int(raised)) > power:
        raise TooLongError(f"a power of ten beyond {power}")
    digits = read_whole(decimal["whole"] + part, longest=longest)
    return (-digits if decimal["sign"] == "-" else digits) * Fraction(10) ** (int(raised) - len(part))


def read_whole(text: str, *, longest: int = LONGEST) -> int:
    """A whole number of ASCII digits, with a sign or without; ValueError and TooLongError as above."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError("this is not a whole number")
    if too_long(digits, longest):
        raise TooLongError(f"more than {longest} digits")
    # The last digits come first. Neighbours are joined until one is left, as long factors are multiplied faster.
    parts = [int(digits[max(end - _AT_ONCE, 0) : end]) for end in range(len(digits), 0, -_AT_ONCE)]
    length = _AT_ONCE
    while len(parts) > 1:
        base = 10**length
        parts = [low + high * base for low, high in zip_longest(parts[::2], parts[1::2], fillvalue=0)]
        length *= 2
    return -parts[0] if text.startswith("-") else parts[0]


def too_long(digits: str, longest: int = LONGEST) -> bool:
    """Whether a text has more digits than are read; zeros in front count, too, for a text of them is not a number."""
    return len(digits) > longest and sum(map(str.isdigit, digits)) > longest


def digits_of(number: int) -> str:
    """The decimal digits of a number from 0: millions of them in a second, where Python's own conversion takes hours.

    Halves of the bits are converted apart, and put together by the fast products of decimals.
    """
    if number.bit_length() <= _BITS:
        return str(number)
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = MAX_PREC, MAX_EMAX, MIN_EMIN
        context.traps[Inexact] = True
        return str(_decimal(number, number.bit_length(), {}))


def _decimal(number: int, bits: int, powers: dict[int, Decimal]) -> Decimal:
    if bits <= _BITS:
        return Decimal(number)
    half = bits // 2
    high = number >> half
    low = _decimal(number - (high << half), half, powers)
    return _decimal(high, bits - half, powers) * _power(half, powers) + low


def _power(bits: int, powers: dict[int, Decimal]) -> Decimal:
    """Two to that power, made of those that were needed before."""
    if bits not in powers:
        half = bits // 2
        powers[bits] = Decimal(2) ** bits if bits <= _BITS else _power(half, powers) * _power(bits - half, powers)
    return powers[bits]


def decimal_text(number: float | Fraction) -> str:
    """The number as a decimal, of a float as it is written; ValueError where it has none of 60 places or fewer."""
    exact = number if isinstance(number, Fraction) else read_number(str(number))
    places = next((k for k in range(60) if (exact * 10**k).denominator == 1), None)
    if places is None:
        raise ValueError(f"{number} has no decimal: give it as a text")
    whole = abs(exact) * 10**places
    digits = str(whole.numerator).zfill(places + 1)
    sign = "-" if exact < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def not_one(total: Fraction) -> str:
    """A sum of probabilities, with as many digits as tell it from 1."""
    try:
        return decimal_text(total)
    except ValueError:
        rounded = f"{float(total):.6g}"
        return rounded if rounded != "1" else f"1 {'+' if total > 1 else '-'} {float(abs(total - 1)):.2g}"
