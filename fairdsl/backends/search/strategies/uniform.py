"""``uniform``: candidates drawn uniformly from the domain, in batches.

What every other strategy has to be better than. Drawing is uniform over the product of the attributes' values where
no condition ties attributes together; elsewhere draws are moved into the target (:mod:`..repair`). Where rows are
given, draws are around them.
"""

from __future__ import annotations

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposal, Proposing

__all__ = ["uniform"]


def uniform(ground: Ground) -> Proposing:
    """Draw, and draw again."""
    while True:
        yield Proposal(ground.source, ground.draw(ground.batch))
