"""Conditions on the numbers that a model itself gives: ``score > 0``, ``0.5 <= probability``, ``class = 1``."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import Form
from fairdsl.semantics.arithmetic import Arithmetic
from fairdsl.syntax import tree

__all__ = ["OWN_NUMBERS", "own_comparison"]

#: The words that name them, where no attribute's owner stands before.
OWN_NUMBERS = ("score", "probability", "class")


def own_comparison(node: tree.Expression) -> tuple[str, Relation, Fraction] | None:
    """``score > 0``-like conditions as subject, relation and number; None for anything else."""
    if not isinstance(node, tree.Comparison):
        return None
    relation = Relation(node.relation)
    for side, other, read in ((node.left, node.right, relation), (node.right, node.left, relation.mirrored)):
        if isinstance(side, tree.Reference) and side.owner is None and side.name.text in OWN_NUMBERS:
            constant = Arithmetic(lambda _: None, lambda number: Form(constant=number), Reporter()).lower(other)
            if constant is not None:
                return side.name.text, read, constant.constant
    return None
