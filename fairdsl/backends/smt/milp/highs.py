"""HiGHS behind two doors: a relaxation that is solved again and again, and a mixed-integer program solved once.

Single-threaded and seeded, so that the same calls give the same answers. Answers hold within the solver's
tolerances only; what must be certain is recomputed by ``certify.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.program import Program

__all__ = ["Mixed", "Relaxation", "Solved", "mixed_optimum"]

FloatArray = NDArray[np.float64]


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
    """What came of a mixed-integer program: ``status`` is optimal, infeasible or stopped.

    ``columns`` is the best point, None where there is none; no point has t above ``bound``.
    """

    status: str
    columns: FloatArray | None
    bound: float


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
        if isfinite(seconds):
            # The limit counts from the object's start, not from this run's.
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(seconds, 0.001))
        self._highs.run()
        solved = self._solved()
        if solved.duals is None and self._highs.getModelStatus() != self._statuses.kTimeLimit:
            # The last basis was a bad one to start from, or has no ray to show: start anew.
            self._highs.clearSolver()
            self._highs.run()
            solved = self._solved()
        return solved

    def _solved(self) -> Solved:
        status = self._highs.getModelStatus()
        if status == self._statuses.kOptimal:
            found = self._highs.getSolution()
            return Solved(
                self._highs.getObjectiveValue(),
                np.array(found.col_value, dtype=np.float64),
                np.array(found.row_dual, dtype=np.float64),
            )
        if status == self._statuses.kInfeasible:
            _, exists, ray = self._highs.getDualRay()
            # HiGHS's ray is that of the minimised problem; the duals above are those of the maximised one.
            return Solved(-np.inf, np.zeros(self._width), -np.array(ray, dtype=np.float64) if exists else None)
        return Solved(np.inf, np.zeros(self._width), None)


def mixed_optimum(mixed: Program, *, seconds: float, seed: int = 0, any_point: bool = False) -> Mixed:
    """Solve the program with its whole columns whole, within the seconds; ``any_point``: until it has one."""
    import highspy

    statuses = highspy.HighsModelStatus
    highs = _loaded(mixed, integer=True)
    highs.setOptionValue("random_seed", seed)
    highs.setOptionValue("mip_feasibility_tolerance", 1e-9)
    highs.setOptionValue("time_limit", max(seconds, 0.001))
    if any_point:
        highs.setOptionValue("mip_max_improving_sols", 1)
    highs.run()
    status, info = highs.getModelStatus(), highs.getInfo()
    if status == statuses.kInfeasible:
        return Mixed("infeasible", None, -np.inf)
    has_point = info.primal_solution_status == 2
    columns = np.array(highs.getSolution().col_value, dtype=np.float64) if has_point else None
    return Mixed("optimal" if status == statuses.kOptimal else "stopped", columns, float(info.mip_dual_bound))


def _loaded(linear: Program, *, integer: bool) -> Any:
    import highspy

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
