"""Conditions on what a model itself gives: ``score > 0``, ``0.5 <= probability``, ``class = "good"``,
``probability(class = 1) >= 0.7``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import Label
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import Form
from fairdsl.semantics.conditions.arithmetic import Arithmetic
from fairdsl.syntax import tree

#: The words that name them, where no attribute's owner stands before.
OWN_NUMBERS = ("score", "probability", "class")


@dataclass(frozen=True, slots=True)
class OwnComparison:
    """``subject RELATION value``, a text only of a class; ``of``: the class in ``probability(class = ...)``."""

    subject: str
    relation: Relation
    value: Fraction | str
    of: Label | None = None

    @property
    def label(self) -> Label | None:
        """The label of ``class = LABEL``; None for anything else."""
        if self.subject != "class" or self.relation is not Relation.EQ:
            return None
        if isinstance(self.value, str):
            return self.value
        return int(self.value) if self.value.denominator == 1 else None


def own_comparison(node: tree.Expression) -> OwnComparison | None:
    """A comparison of one of the model's own numbers with a constant; None for anything else."""
    if not isinstance(node, tree.Comparison):
        return None
    relation = Relation(node.relation)
    for side, other, read in ((node.left, node.right, relation), (node.right, node.left, relation.mirrored)):
        subject = _subject(side)
        if subject is None:
            continue
        word, of = subject
        if isinstance(other, tree.Text):
            return OwnComparison(word, read, other.value) if word == "class" else None
        constant = Arithmetic(lambda _: None, lambda number: Form(constant=number), Reporter()).lower(other)
        if constant is not None:
            return OwnComparison(word, read, constant.constant, of)
    return None


def _subject(side: tree.Expression) -> tuple[str, Label | None] | None:
    """Which number one side of a comparison is, and of ``probability(class = LABEL)`` the label."""
    match side:
        case tree.Reference(owner=None, name=name) if name.text in OWN_NUMBERS:
            return name.text, None
        case tree.Call(function=tree.Name(text="probability"), arguments=(condition,)):
            inner = own_comparison(condition)
            return None if inner is None or inner.label is None else ("probability", inner.label)
    return None
