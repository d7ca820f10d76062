"""Numbers over rows of a table in every arithmetic that decides the rows, and the rows on which they differ.

A model that was read from a file is decided twice: in exact arithmetic, as the formula that was read, and by the file
itself, in its own float32. Whoever has only one of the two (a model written in a spec, a black box) has one reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from fairdsl.codec import INLINE
from fairdsl.ir.enclosure import Enclosed, Enclosure
from fairdsl.verdict.named import Individual


class Decider(Enum):
    """Who decides the rows of a table."""

    EXACT = "exact"  # exact arithmetic on the model as it was read
    DEPLOYED = "deployed"  # the file itself, each row run as if alone
    ANSWERS = "answers"  # a black box, of which nothing is known but its answers


@dataclass(frozen=True, slots=True, kw_only=True)
class ByDecider(Enclosed):
    """What a number is by one decider, if it is ``defined``. It is an interval where decisions stay
    open."""

    #: Who decides.
    by: Decider
    #: Between which two ends the number lies.
    number: Annotated[Enclosure, INLINE]
    #: Whether there is such a number.
    defined: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingRow:
    """A row that exact arithmetic and the deployed file do not judge alike: the ``row``-th of the table, from 1.

    ``values`` are those of the attributes. ``exact`` and ``deployed`` are outcomes where the row itself is decided, and
    ``fair`` or ``unfair`` where the unit that it lies in is judged. None: it stays open in exact
    arithmetic, the file decides it in two ways, by how it is run, or there is nobody of this kind who decides.
    """

    #: Which row of the table, from 1.
    row: int
    #: The individual in it.
    values: Individual
    #: What exact arithmetic makes of it; None: it stays open, or there is none.
    exact: str | None
    #: What the deployed file makes of it; None: it answers in two ways, or there is none.
    deployed: str | None
