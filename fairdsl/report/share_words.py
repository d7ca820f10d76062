"""Shares in words: each with its percentage, its exact fraction, and its units where they were counted."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.numbers import Towards, shown, span
from fairdsl.verdict import Shares


def share(shares: Shares) -> list[tuple[str, str]]:
    """Name and amount of every share: percent, the exact fraction, and units where they were counted.

    Shares that nothing is left undecided of are numbers, rounded as the verdict's; others are bounds, rounded outward.
    """
    proved = Towards.DOWN if shares.undecided else Towards.NEAREST
    rows = [
        ("certified", shares.certified, proved),
        ("falsified", shares.falsified, proved),
        ("undecided", shares.undecided, Towards.UP),
    ]
    said = [
        (name, _amount(value, towards, shares.total)) for name, value, towards in rows if value or towards is proved
    ]
    return [*said, ("beside", _beside(shares))] if shares.vacuous else said


def _beside(shares: Shares) -> str:
    """The units that a share is not of, in parts of all there are."""
    everybody = None if shares.total is None or shares.vacuous == 1 else shares.total / (1 - shares.vacuous)
    total = int(everybody) if everybody is not None and everybody.denominator == 1 else None
    amount = _amount(shares.vacuous, Towards.DOWN, total)
    return f"{amount} of all units are vacuous: they have nobody to be compared with, and do not count"


def float32_share(certified: Fraction, total: int | None) -> str:
    """What is certified for the deployed file too, as an amount like the other shares."""
    return f"{'certified':<10} {_amount(certified, Towards.DOWN, total)}"


def people_lines(shares: Shares, of_fair_share: bool) -> Iterator[tuple[str, str]]:
    """Headings and sentences: what a share of people says of whom rows were drawn from, and the share of the domain."""
    if shares.sampling is not None and shares.confidence is not None:
        level = shown(shares.confidence, percent=True)
        yield "sampling", f"{_between(shares.sampling, of_fair_share)} in the population, with {level} confidence"
    if shares.of_domain is not None:
        yield "domain", f"{_between(shares.of_domain, of_fair_share)} of all units of the domain, each counted alike"


def _between(fair: Enclosure, of_fair_share: bool) -> str:
    """Of the fair share, or of its complement where that is asked for."""
    return span(*(fair if of_fair_share else fair.complement), between=" to ", percent=True)


def _amount(value: Fraction, towards: Towards, total: int | None) -> str:
    counted = None if total is None else value * total
    if counted is not None and counted.denominator == 1:
        exact = f"{counted.numerator:,} of {total:,}"
    elif value.denominator < 10**12:
        exact = str(value)
    else:
        exact = "exact fraction in the JSON report"
    return f"{shown(value, percent=True, towards=towards)}  ({exact})"
