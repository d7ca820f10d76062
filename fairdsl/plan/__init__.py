"""Planning: what a problem needs, who offers to answer it, in which order they are asked."""

from fairdsl.plan.cross_check import cross_checked
from fairdsl.plan.execute import execute, prepare
from fairdsl.plan.negotiate import Plan, Stage, in_turn, negotiate, plan_of

__all__ = ["Plan", "Stage", "cross_checked", "execute", "in_turn", "negotiate", "plan_of", "prepare"]
