"""Certificates: trees that cover a region, with the multipliers of a bound at every leaf.

A certificate is only a claim. ``certify.py`` derives what each leaf stands for from the splits above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.program import Unit

__all__ = ["NOTHING", "Leaf", "OrderSplit", "PhaseSplit", "Tree", "ValueSplit"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """Multipliers of the targets, of the rows, and the gradients of some units (of the others: any)."""

    targets: FloatArray
    rows: FloatArray
    units: tuple[Unit, ...]
    gradients: FloatArray


#: Proves nothing; stands where a certificate is still to come.
NOTHING = Leaf(np.zeros(0), np.zeros(0), (), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class PhaseSplit:
    """One unit of one copy: ``z <= 0`` below, ``z >= 0`` above."""

    unit: Unit
    below: Tree
    above: Tree


@dataclass(frozen=True, slots=True, eq=False)
class ValueSplit:
    """One attribute of one individual: values up to ``cut`` below; above the greater ones, of reals also the cut."""

    who: str
    attribute: int
    cut: Fraction
    below: Tree
    above: Tree


@dataclass(frozen=True, slots=True, eq=False)
class OrderSplit:
    """An attribute that must differ: a's value is the smaller one below, the greater one above."""

    attribute: int
    below: Tree
    above: Tree


Tree = Leaf | PhaseSplit | ValueSplit | OrderSplit
