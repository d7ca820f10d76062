"""Units by what is known of them, and the shares that follow. Docs: docs/semantics.md, section 3."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Shares of the units in question, which sum to 1, and beside them the ``vacuous`` part of all units."""

    certified: Fraction
    falsified: Fraction
    undecided: Fraction
    vacuous: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Amounts of units, all of one measure.

    A unit is in question where it has an admissible pair. ``fair`` and ``unfair`` units are so for sure, and in
    question. ``unsure`` ones are fair if they are in question at all. Of ``undecided`` ones nothing is known, and
    ``vacuous`` ones are not in question.
    """

    fair: Fraction | int
    unfair: Fraction | int
    undecided: Fraction | int = 0
    unsure: Fraction | int = 0
    vacuous: Fraction | int = 0

    @property
    def possible(self) -> Fraction | int:
        """How many may be in question."""
        return self.fair + self.unfair + self.undecided + self.unsure

    @property
    def share(self) -> Enclosure | None:
        """The fair share; None where there may be none, or nothing is known of it."""
        if not self.possible:
            return None
        parts = self.parts()
        return None if parts.undecided == 1 else Enclosure(low=parts.certified, high=1 - parts.falsified)

    def parts(self) -> Parts:
        """``certified <= fair share <= 1 - falsified``, whichever of the unsure and undecided units are in question.

        The fair share is least where all undecided units are unfair and no unsure one is in question, and greatest
        where all of them are fair. ValueError where nobody may be in question.
        """
        if not self.possible:
            raise ValueError("there is no share of nobody")
        least = self.fair + self.unfair + self.undecided
        certified = Fraction(self.fair, 1) / least if least else Fraction(0)
        falsified = Fraction(self.unfair, 1) / self.possible
        return Parts(
            certified=certified,
            falsified=falsified,
            undecided=1 - certified - falsified,
            vacuous=Fraction(self.vacuous, 1) / (self.possible + self.vacuous),
        )
