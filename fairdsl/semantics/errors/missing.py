"""E0302 about missing values: where a value would be needed of people who have none."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic
from fairdsl.semantics.errors.types import not_comparable
from fairdsl.source import Span


def no_distribution_of_missing(attribute: str, span: Span) -> Diagnostic:
    """Probabilities of a real number, or of one that is compared by distances, which may be missing."""
    return not_comparable(
        f"`{attribute}` may be missing, and has no distribution but that of rows",
        span,
        "among its values probability is spread by length, and those who have none have no length",
        f'count the rows, as in `empirical from "people.csv"`, or declare `{attribute}` as `integer ... or missing`, '
        "and write no distance in it",
    )


def no_volume_of_missing(attribute: str, span: Span) -> Diagnostic:
    """A share of a domain with a real number that may be missing, where no rows say who is how frequent."""
    return not_comparable(
        f"`{attribute}` is real and may be missing, so a share without `under` has no meaning",
        span,
        "people who have a value are measured by length, and beside that those who have none would count nothing",
        f"write `under` and rows, or declare `{attribute}` as `integer ... or missing`, whose values are counted",
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
