"""Models held against recorded decisions: does the file, as the spec reads it, decide as the deployed one did?"""

from fairdsl.recorded_decisions.agreement import held_against, many_decided
from fairdsl.recorded_decisions.alternatives import better_binding

__all__ = ["better_binding", "held_against", "many_decided"]
