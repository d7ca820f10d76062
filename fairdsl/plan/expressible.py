"""Whether a file format can express a demand: the same answer when files are written and when they are read."""

from __future__ import annotations

from fairdsl.backends.contract import Refusal
from fairdsl.backends.encoding import Encoding
from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import Elaborated
from fairdsl.ir.problem import Problem
from fairdsl.plan import errors
from fairdsl.plan.gate import without_layers
from fairdsl.plan.negotiate import plan_of
from fairdsl.verdict import Refused

__all__ = ["expressible"]


def expressible(item: Elaborated, encoding: Encoding) -> Problem | Diagnostic:
    """The problem, or why files of this format cannot say it."""
    if item.refusal is not None or item.demand.beyond:
        plan = plan_of(item)
        if isinstance(plan, Refused):
            return plan.diagnostics[0]
    lacking = (without_layers(model) for model in item.problem.models)
    offer = next(filter(None, lacking), None) or encoding.offer(item.problem)
    if isinstance(offer, Refusal):
        return errors.format_refuses(encoding.name, offer.why, item.demand.span)
    return item.problem
