"""A program in the solver: signs are fixed and left open again, and the unit to branch on is chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairdsl.backends.smt.milp.highs import Relaxation, Solved
from fairdsl.backends.smt.milp.place import Place
from fairdsl.backends.smt.milp.program import Program, Unit, program
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.milp.tree import Leaf

__all__ = ["EXACT", "Loaded", "leaf_of"]

#: A share, a distance of values, below which the relaxation's point counts as exact.
EXACT = 1e-7
#: How much more a unit counts for every layer that lies before it. Of the powers of two, 4 needed the fewest
#: nodes on networks of five hidden layers; one case took 119 nodes instead of more than 4000.
_LATER = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A program in the solver, and where its units stand."""

    place: Place
    program: Program
    relaxation: Relaxation
    places: dict[Unit, int]

    @classmethod
    def of(cls, query: Query, place: Place) -> Loaded:
        """The query's program on the place, handed to the solver."""
        linear = program(query, place)
        return cls(place, linear, Relaxation(linear), {unit: number for number, unit in enumerate(linear.units)})

    def fix(self, unit: Unit, positive: bool | None) -> None:
        """Fix a unit's sign, or leave it open again; nothing where the bounds have decided it."""
        number = self.places.get(unit)
        if number is not None:
            column = self.program.first_unit + 2 * number
            high = np.array([float(positive is not False), float(positive is not True)])
            self.relaxation.columns_between(np.array([column, column + 1], dtype=np.int32), np.zeros(2), high)

    def order(self, row: int, limit: float) -> None:
        """Put one of the domain's rows in force, or out of it with an infinite limit."""
        self.relaxation.row_at_most(self.program.first_condition + row, limit)

    def widest(self, solved: Solved) -> Unit | None:
        """The open unit whose relaxation costs most at the point; None where all are exact."""
        count, first = len(self.program.units), self.program.first_unit
        if count == 0:
            return None
        shares = solved.columns[first : first + 2 * count].reshape(count, 2)
        apart = shares.min(axis=1)
        if apart.max() <= EXACT:
            return None
        assert solved.duals is not None
        # The dual value of the triangle's row is what tightening it gains. Late layers first: what their units
        # relax is still there when all the units before them are fixed (measured; see `_LATER`).
        price = np.abs(solved.duals[count : 2 * count])
        wrong = np.sqrt(np.maximum(1.0 - shares.max(axis=1) + apart, 0.0))
        later = _LATER ** np.array([unit.layer for unit in self.program.units], dtype=np.float64)
        gain = (price * wrong + 1e-9 * apart) * later
        best = int(np.argmax(np.where(apart > EXACT, gain, -1.0)))
        return self.program.units[best]


def leaf_of(linear: Program, solved: Solved) -> Leaf:
    """The multipliers that the solver's duals stand for."""
    assert solved.duals is not None
    targets = slice(linear.first_target, linear.first_condition)
    conditions = slice(linear.first_condition, linear.first_condition + len(linear.query.limits))
    duals = solved.duals
    return Leaf(-duals[targets], duals[conditions], linear.units, duals[: len(linear.units)])
