"""Planning: what a problem needs, who offers to answer it, in which order they are asked."""

from fairdsl.plan.cross_check import cross_checked, opinion_in_words
from fairdsl.plan.execute import Work, execute, preparations
from fairdsl.plan.negotiate import Plan, Stage, negotiate, plan_of
from fairdsl.plan.shared import Shared, in_turn, shared

__all__ = [
    "Plan",
    "Shared",
    "Stage",
    "Work",
    "cross_checked",
    "execute",
    "in_turn",
    "negotiate",
    "opinion_in_words",
    "plan_of",
    "preparations",
    "shared",
]
