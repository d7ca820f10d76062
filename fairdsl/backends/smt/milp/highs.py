"""HiGHS behind two doors: a relaxation that is solved again and again, and a mixed-integer program solved once.

In a :class:`Loaded` program signs of units are fixed and left open again, and the one to branch on is chosen.

Single-threaded and seeded, so that the same calls give the same answers. Answers hold within the solver's
tolerances only; what must be certain is recomputed by ``certificate.py``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.certificate import Leaf
from fairdsl.backends.smt.milp.place import Place
from fairdsl.backends.smt.milp.program import Program, Unit, program
from fairdsl.backends.smt.milp.query import Query
from fairdsl.clock import UNITS, Work, meter_in_force, spend

FloatArray = NDArray[np.float64]

#: What is counted where effort is given: then it is the limit, and no program has one of time.
_PROGRAMS, _STEPS = Work("linear programs", 50), Work("steps of the simplex algorithm", 2)
_NODES = Work("nodes of mixed-integer programs", 500)


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """What came of a relaxation: ``value`` is the greatest t, -inf where nothing is feasible.

    ``duals`` [rows] prove it; where nothing is feasible they are a ray. None where the solver gave up.
    """

    value: float
    columns: FloatArray
    duals: FloatArray | None


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """What came of a mixed-integer program: that it has no point, a point, or neither."""

    infeasible: bool
    columns: FloatArray | None = None


class Relaxation:
    """A linear program that stays loaded: bounds of columns and rows change between solves (dual simplex)."""

    def __init__(self, linear: Program) -> None:
        import highspy

        self._statuses = highspy.HighsModelStatus
        self._width = len(linear.low)
        self._highs = _loaded(linear, integer=False)
        self._highs.setOptionValue("presolve", "off")
        self._highs.setOptionValue("solver", "simplex")

    def columns_between(self, columns: NDArray[np.int32], low: FloatArray, high: FloatArray) -> None:
        """New bounds of some columns."""
        self._highs.changeColsBounds(len(columns), columns, low, high)

    def row_at_most(self, row: int, limit: float) -> None:
        """A new upper bound of a row that has no lower one."""
        self._highs.changeRowBounds(row, -np.inf, limit)

    def maximise(self, costs: FloatArray) -> None:
        """Another objective than t: the columns weighted with ``costs``."""
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def solve(self, seconds: float) -> Solved:
        """The greatest t, with a proof."""
        if isfinite(seconds) and meter_in_force() is None:
            # The limit counts from the object's start, not from this run's.
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 0.001))
        self._highs.run()
        _spent(self._highs)
        solved = self._solved()
        if solved.duals is None and self._highs.getModelStatus() != self._statuses.kTimeLimit:
            # The last basis was a bad one to start from, or has no ray to show: start anew.
            self._highs.clearSolver()
            self._highs.run()
            _spent(self._highs)
            solved = self._solved()
        return solved

    def anew(self, seconds: float) -> Solved:
        """The same without the last basis: a ray that came from a bad one may prove nothing."""
        self._highs.clearSolver()
        return self.solve(seconds)

    def _solved(self) -> Solved:
        status = self._highs.getModelStatus()
        if status == self._statuses.kOptimal:
            found, value = self._highs.getSolution(), self._highs.getObjectiveValue()
            columns, duals = _numbers(found.col_value), _numbers(found.row_dual)
            if isfinite(value) and columns is not None and duals is not None:
                return Solved(value, columns, duals)
        if status == self._statuses.kInfeasible:
            _, exists, ray = self._highs.getDualRay()
            # HiGHS's ray is that of the minimised problem; the duals above are those of the maximised one.
            duals = _numbers(ray) if exists else None
            return Solved(-np.inf, np.zeros(self._width), None if duals is None else -duals)
        return Solved(np.inf, np.zeros(self._width), None)


def mixed_point(mixed: Program, *, seconds: float) -> Mixed:
    """Look for a point of the program with its whole columns whole, within the seconds."""
    import highspy

    highs = _loaded(mixed, integer=True)
    highs.setOptionValue("mip_feasibility_tolerance", 1e-9)
    if meter_in_force() is None:
        highs.setOptionValue("time_limit", max(seconds, 0.001))
    else:
        highs.setOptionValue("mip_max_nodes", max(1, int(seconds * UNITS / _NODES.units)))
    highs.setOptionValue("mip_max_improving_sols", 1)
    highs.run()
    _spent(highs)
    spend(_NODES, max(0, highs.getInfo().mip_node_count))
    if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return Mixed(infeasible=True)
    has_point = highs.getInfo().primal_solution_status == 2
    return Mixed(infeasible=False, columns=_numbers(highs.getSolution().col_value) if has_point else None)


def _spent(highs: Any) -> None:
    """Count the program, and the steps of the simplex algorithm that it took."""
    spend(_PROGRAMS)
    spend(_STEPS, max(0, highs.getInfo().simplex_iteration_count))


def _numbers(found: Sequence[float]) -> FloatArray | None:
    """The solver's numbers; None where one of them is none, for then it has failed."""
    numbers = np.array(found, dtype=np.float64)
    return numbers if np.isfinite(numbers).all() else None


@cache
def _announced() -> None:
    """Let the first program of a process say who it is to nobody: it does so before anything can be set."""
    import highspy

    with suppress(OSError):  # where there is no standard output nothing is said
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        try:
            highspy.Highs()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
            os.close(nowhere)


def _loaded(linear: Program, *, integer: bool) -> Any:
    import highspy

    _announced()
    highs: Any = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("random_seed", 0)):
        highs.setOptionValue(name, value)
    rows = linear.rows
    where, columns = np.nonzero(rows.matrix)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(linear.low), len(rows.low)
    cost = np.zeros(len(linear.low))
    cost[-1] = 1.0
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, linear.low, linear.high
    lp.row_lower_, lp.row_upper_ = rows.low, rows.high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(where, minlength=len(rows.low)))]).astype(np.int32)
    lp.a_matrix_.index_, lp.a_matrix_.value_ = columns.astype(np.int32), rows.matrix[where, columns]
    lp.sense_ = highspy.ObjSense.kMaximize
    if integer:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(whole)] for whole in linear.whole]
    highs.passModel(lp)
    return highs


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
