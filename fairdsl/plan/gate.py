"""Who need not be asked, nor even imported: who needs more of a model than it offers, or answers other questions.

Most backends read a model's layers, and a model without its layers must never look to them like one with few. What a
model offers it says itself (:class:`~fairdsl.ir.opaque.Access`), and what a backend needs stands in its line of the
registry; formats of files need layers.
"""

from __future__ import annotations

from fairdsl.backends.contract import Refusal
from fairdsl.ir.demand import Demanded
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import Access, BlackBox, KernelMachine
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Individually, Pair, PairUnder, WorstPair
from fairdsl.plan.registry import About, Registered


def turned_away(registered: Registered, problem: Problem) -> Refusal | None:
    """Why there is no use in asking this backend, None where there may be."""
    for model in problem.models:
        lacking = _lacking(model, registered.needs)
        if lacking is not None:
            return lacking
    match registered.about, problem.question:
        case (
            (About.ROWS, _)
            | (About.PAIRS | About.BOTH, Pair() | PairUnder() | Individually() | WorstPair() | Demanded())
            | (About.GROUPS | About.MASSES | About.BOTH, GroupMetric())
            | (About.MASSES, PairUnder() | Individually() | Demanded())
        ):
            return None
    return Refusal(why=f"it answers {registered.about.value}", other=True)


def without_layers(model: Model) -> Refusal | None:
    """Why the model cannot be treated by whoever reads layers, None where it can."""
    return _lacking(model, Access.LAYERS)


def _lacking(model: Model, needs: Access) -> Refusal | None:
    if model.access >= needs:
        return None
    match model.opaque:
        case BlackBox(call=None, unread=unread):
            asked = "" if unread is None else f", for it cannot be read exactly ({unread})"
            why = f"the model is a black box, of which nothing is known but its answers{asked}"
        case BlackBox():
            why = "the model is a Python function, of which nothing is known but its answers"
        case KernelMachine(kernel=kernel):
            why = f"the model is a support vector machine with the kernel `{kernel.value}`, which it cannot bound"
        case None:
            raise AssertionError("a model that is not a black box has layers")
    return Refusal(why=why, span=model.span)
