"""What metrics say of groups that have no rate, or one that rests on next to nothing."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.numbers import span as ends_of
from fairdsl.source import Span

_LISTED = 5


def empty_groups(groups: Sequence[str], total: int, population: str, span: Span | None) -> Diagnostic:
    """Declared groups that nobody belongs to; ``groups`` in the spec's words."""
    return Diagnostic(
        code="E0580",
        title=f"{len(groups)} of {total} groups {_have(groups)} no rate under `{population}`",
        primary=None if span is None else Label(span, "a rate is a quotient, and theirs would be of zeros"),
        notes=_listed(groups, "probability 0"),
        why="a number in its place, be it 0, 1/2 or 1, would decide which group is favoured least",
        help="write `excluding groups of probability 0`, and they are listed instead of counted",
    )


def few_rows(groups: Sequence[str], population: str, limit: int, left: Enclosure, span: Span | None) -> Diagnostic:
    """Rates that rest on few rows; ``left`` is what an even split of ``limit`` rows leaves open at 95 %."""
    between = ends_of(*left, between=" and ", percent=True)
    return Diagnostic(
        code="W0808",
        title=f"{len(groups)} rate{_s(groups)} {_rest(groups)} on fewer than {limit} rows of `{population}`",
        primary=None if span is None else Label(span, "takes them for the rates of a population"),
        notes=_listed(groups, None),
        why=f"even {limit} rows, split evenly, only say that the rate is between {between} (95% confidence)",
        help=f"write `excluding groups below {limit} rows`, or `with confidence 95%` behind the demand",
    )


def contradicted(groups: Sequence[str], population: str, span: Span | None) -> Diagnostic:
    """Rates under a distribution that are too far from the frequencies in the rows that it was estimated from."""
    return Diagnostic(
        code="W0809",
        title=f"the rows contradict {len(groups)} rate{_s(groups)} under `{population}`",
        primary=None if span is None else Label(span, "is answered under the distribution"),
        notes=_listed(groups, None),
        why="a misspecified distribution gives exact results for a population that does not exist",
        help="audit the rows themselves (`empirical`), or let it depend on more (`set max_parents`, a `graph`)",
    )


def _have(groups: Sequence[str]) -> str:
    return "has" if len(groups) == 1 else "have"


def _rest(groups: Sequence[str]) -> str:
    return "rests" if len(groups) == 1 else "rest"


def _s(groups: Sequence[str]) -> str:
    return "" if len(groups) == 1 else "s"


def _listed(groups: Sequence[str], what: str | None) -> tuple[str, ...]:
    """The first few, and how many more there are."""
    lines = [group if what is None else f"{group}: {what}" for group in groups[:_LISTED]]
    more = len(groups) - _LISTED
    return (*lines, f"and {more} more") if more > 0 else tuple(lines)
