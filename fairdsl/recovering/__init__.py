"""``recover``: results of interval jobs, or answers to solver files, become the report that ``check`` would give."""

from fairdsl.recovering.jobs import recover_results
from fairdsl.recovering.solved import recover_answers, solver_folder

__all__ = ["recover_answers", "recover_results", "solver_folder"]
