"""Planning: what a problem needs, who offers to answer it, in which order they are asked."""

from fairdsl.plan.execute import execute, prepare
from fairdsl.plan.negotiate import Plan, Stage, negotiate, plan_of

__all__ = ["Plan", "Stage", "execute", "negotiate", "plan_of", "prepare"]
