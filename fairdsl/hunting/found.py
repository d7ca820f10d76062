"""What a search came to, as data: for tables, for the terminal, for the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.search import Ending
from fairdsl.diagnostics import Diagnostic
from fairdsl.hunting.near import NearSummary
from fairdsl.hunting.table import Column
from fairdsl.ir.domain import Domain, Point
from fairdsl.verdict import Among, Within

__all__ = ["Example", "Found", "Representative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Two individuals, and the decisions of the model in exact arithmetic (negative: open).

    ``bits`` and ``score_gap`` say how severe it is (None: not known); ``distance`` how far it is from the row
    ``nearest_row`` of given data, counted from 1 (None: none was given).
    """

    a: Point
    b: Point
    decisions: tuple[int, int]
    bits: float | None = None
    score_gap: float | None = None
    distance: float | None = None
    nearest_row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Representative:
    """A pair, and the part of the domain that it stands for: a box, without restrictions the whole domain.

    ``found`` of the pairs that were found lie in it. It holds ``individuals`` people, all differing attributes'
    values included (None: reals vary); where ``bounded``, a ``where`` or target may leave fewer. The share of its units
    that violate lies in [``low``, ``high``] (None: nobody was there to look at, or the time ended), ``units`` were
    looked at, and ``how`` is ``counted`` (all units tried), ``leaf boxes`` (counted by the leaves of trees, in exact
    arithmetic) or ``sample``: then the interval has the probability ``confidence``.
    """

    pair: Example
    box: tuple[Within | Among, ...]
    found: int
    individuals: int | None
    bounded: bool
    low: Fraction | None
    high: Fraction | None
    units: int
    how: str
    confidence: float | None

    @property
    def all_violate(self) -> bool:
        """Whether it is proved that every unit of the box violates."""
        return self.confidence is None and self.low == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search came to.

    ``count`` pairs, each unit once (docs/search.md), all of them in ``columns`` as the file has them; ``gaps`` units
    that violate in one arithmetic only, with ``gap`` as an example. ``shown`` are some finds: the first ones where they
    are ranked, else finds far from each other. ``rank`` is what the pairs are ordered by (None: as they were found).
    ``apart`` is the mean distance of two finds, from 0 to 1 (None: fewer than two, or nothing
    that has a distance). ``tried`` units and ``evaluated`` individuals. Of ``bounded`` individuals in replays a bound
    of the deployed file's arithmetic says what it decides, where it would take too long to run on more than ``ran``.
    ``sample`` units of the uniform sample that a saturated search ended with; ``waiting`` finds whose neighbours were
    not tried. ``near`` is about the rows that the search stayed near to, ``representatives`` stand for the pairs, each
    with its part of the domain.
    """

    spec: str
    property: str
    demand: str
    model: str
    strategy: str
    seed: int
    count: int
    by_strategy: Mapping[str, int]
    gaps: int
    gap: Example | None
    shown: tuple[Example, ...]
    domain: Domain
    outcomes: tuple[str, ...]
    varying: tuple[int, ...]
    columns: tuple[Column, ...]
    rank: str | None
    apart: float | None
    ending: Ending
    tried: int
    evaluated: int
    ran: int
    bounded: int
    sample: int
    waiting: int
    near: NearSummary | None
    representatives: tuple[Representative, ...]
    seconds: float
    output: Path | None
    warnings: tuple[Diagnostic, ...]

    def rows(self) -> list[dict[str, object]]:
        """The finds as the file has them, one mapping from column to value each."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*(c.cells for c in self.columns), strict=True)]
