"""Models held against recorded decisions: does the file, as the spec reads it, decide as the deployed one did?"""

from fairdsl.recorded_decisions.agreement import held_against

__all__ = ["held_against"]
