"""E0302 about missing values: where a value would be needed of people who have none."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.semantics.errors.types import not_comparable
from fairdsl.semantics.errors.wording import listing
from fairdsl.source import Span


def compared_with_missing(attribute: str, span: Span) -> Diagnostic:
    """`x = missing`, and `x != missing`."""
    return not_comparable(
        "`missing` is not a value to compare with",
        span,
        "a comparison with a value that somebody lacks is false, and so is its negation",
        f"write `{attribute} is missing`, or `not {attribute} is missing`",
    )


def no_distribution_of_missing(attributes: Sequence[str], span: Span) -> Diagnostic:
    """Probabilities of real numbers, or of ones that are compared by distances, which may be missing."""
    return not_comparable(
        f"{listing(attributes)} may be missing, so there is no distribution but that of rows",
        span,
        "among its values probability is spread by length, and those who have none have no length",
        f'count the rows, as in `empirical from "people.csv"`, or declare {listing(attributes)} as '
        "`integer ... or missing`, with no `within`",
    )


def no_volume_of_missing(attributes: Sequence[str], span: Span) -> Diagnostic:
    """A share of a domain with real numbers that may be missing, where no rows say who is how frequent."""
    return not_comparable(
        f"a share without `under` has no meaning where {listing(attributes)} may be missing, and real",
        span,
        "people who have a value are measured by length, and beside that those who have none would count nothing",
        f"write `under` and rows, or declare {listing(attributes)} as `integer ... or missing`: values are counted",
    )


def weighs_missing(attribute: str, span: Span) -> Diagnostic:
    """A sum of an attribute that somebody lacks: those have no score."""
    return not_comparable(
        f"`{attribute}` may be missing, and this weighs its number",
        span,
        f"people without `{attribute}` would have no score, and be decided by a number that nobody wrote",
        f"weigh conditions, false of those people, as in `2 * ({attribute} >= 30) + ({attribute} is missing)`, "
        "or read a file that fills in a value",
    )


def cancels_missing(attribute: str, span: Span) -> Diagnostic:
    """A sum in which nothing is left of an attribute that somebody lacks: `2 * x <= x + x`, or a weight of 0."""
    return not_comparable(
        f"`{attribute}` may be missing, and cancels out",
        span,
        f"of people without `{attribute}` a comparison that names it is never true, and what is left would be",
        f"leave `{attribute}` out, with `not {attribute} is missing` beside it if only those are meant who have it",
    )


def derived_of_missing(derived: str, attribute: str, span: Span) -> Diagnostic:
    """A derived condition that is neither true nor false of those who lack something."""
    return not_comparable(
        f"`{derived}` is neither true nor false of people without `{attribute}`",
        span,
        f"they would be in the group of those who are not `{derived}`, and in no condition that says so",
        f"say where they belong, by `... and not {attribute} is missing` or `... or {attribute} is missing`",
    )
