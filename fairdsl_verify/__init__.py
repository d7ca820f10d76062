"""Check proofs of fairness that ``fairdsl check --proof`` wrote: ``fairdsl-verify DIR --model FILE``.

Nothing of fairdsl is imported and no floating-point number is computed with: weights are read from the ONNX file as the
dyadic numbers that it stores, and everything after that is integers and fractions. The format is docs/proof-format.md.

What a proof says is never believed: its tree tells where to look, and what holds there is computed here.
"""

from typing import NoReturn


class RejectedError(Exception):
    """The proof, or the model's file, is not one that this program can follow; the message says why."""


def reject(why: str) -> NoReturn:
    """Stop with a reason."""
    raise RejectedError(why)


def require(holds: bool, why: str) -> None:
    """Go on only where it holds."""
    if not holds:
        reject(why)
