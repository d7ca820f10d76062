"""Which backends may be asked about models that are no chain of layers.

All others read a model's layers, and a model without its layers must never look to them like one with few. So the
question is settled here, once, before any of them is asked.
"""

from __future__ import annotations

from fairdsl.backends.contract import Refusal
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox, KernelMachine

__all__ = ["refusal_of_opaque"]

#: The backends and encodings that only ever evaluate a model. To go through everybody shows something of a file, whose
#: answers are its own; that a function will always answer as it just did, nobody knows.
_CALL_FUNCTIONS = frozenset({"search", "sampling", "rows"})
_RUN_FILES = _EVALUATE_KERNELS = _CALL_FUNCTIONS | {"enumerate"}

_FILE = "the model is a black box, of which nothing is known but its answers"
_FUNCTION = "the model is a Python function, of which nothing is known but its answers"


def refusal_of_opaque(name: str, model: Model) -> Refusal | None:
    """Why the backend or encoding of this name cannot treat the model, None if it reads layers only and has them."""
    match model.opaque:
        case BlackBox(call=None, unread=unread) if name not in _RUN_FILES:
            asked = "" if unread is None else f", for it cannot be read exactly ({unread})"
            return Refusal(why=f"{_FILE}{asked}", span=model.span)
        case BlackBox(call=call) if call is not None and name not in _CALL_FUNCTIONS:
            return Refusal(why=_FUNCTION, span=model.span)
        case KernelMachine(kernel=kernel) if name not in _EVALUATE_KERNELS:
            why = f"the model is a support vector machine with the kernel `{kernel.value}`, which it cannot bound"
            return Refusal(why=why, span=model.span)
    return None
