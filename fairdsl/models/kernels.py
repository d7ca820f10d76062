"""From the terms of a kernel machine to the IR: its features over the inputs, its values to the scores.

A model may have one machine, and its scores depend on the machine's values only: a kernel reads features and nothing
that bends, and what bends reads its values.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.ir.model import Layer
from fairdsl.ir.opaque import KernelMachine
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Block, KernelTerms
from fairdsl.models.schedule import first_blocks


class MixedError(ValueError):
    """A machine beside other things that the scores depend on; ``operator`` and ``node`` are where it is."""

    def __init__(self, terms: KernelTerms) -> None:
        super().__init__("it is not the only thing that the scores depend on")
        self.operator, self.node = terms.operator, terms.node


def terms_of(blocks: Sequence[Block], scores: Affine) -> KernelTerms | None:
    """The terms of the machine that the scores depend on; None where they depend on none.

    Raises MixedError where they depend on another machine, on inputs or on indicators as well.
    """
    read = [blocks[number] for number in first_blocks(blocks, scores)]
    found = [block.terms for block in read if block.terms is not None]
    if not found:
        return None
    if len(read) > 1:
        raise MixedError(found[0])
    return found[0]


def kernel_machine(terms: KernelTerms, features: Layer) -> KernelMachine:
    """The machine over the features that the layer computes of the model's inputs."""
    return KernelMachine(
        kernel=terms.kernel,
        gamma=terms.gamma,
        coef0=terms.coef0,
        degree=terms.degree,
        features=features,
        vectors=exact.to_exact_array(terms.vectors),
        coefficients=exact.to_exact_array(terms.coefficients),
        offsets=exact.to_exact_array(terms.offsets),
    )
