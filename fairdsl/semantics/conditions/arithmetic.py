"""Sums and multiples: one walk for everything that is linear, whatever its atoms are.

Conditions build :class:`~fairdsl.ir.expr.Linear` over attributes, scores and features build
:class:`~fairdsl.ir.feature.Form` over inputs; only the atoms differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, Self, TypeVar

from fairdsl.diagnostics import Reporter
from fairdsl.semantics import errors
from fairdsl.syntax import tree


class _Affine(Protocol):
    """What linear expressions have in common."""

    @property
    def terms(self) -> tuple[object, ...]:
        """Empty for constants."""

    @property
    def constant(self) -> Fraction:
        """The number added to the terms."""

    def __add__(self, other: Self) -> Self: ...

    def scaled(self, factor: Fraction) -> Self:
        """The expression times a number."""


T = TypeVar("T", bound=_Affine)


@dataclass(frozen=True, slots=True)
class Arithmetic(Generic[T]):
    """Lowers arithmetic; ``atom`` treats whatever is not a sum, product or number (None after a report)."""

    atom: Callable[[tree.Expression], T | None]
    number: Callable[[Fraction], T]
    reporter: Reporter

    def lower(self, node: tree.Expression) -> T | None:
        """The linear expression, or None after reporting what is wrong."""
        match node:
            case tree.Number(value=value):
                return self.number(value)
            case tree.Negative(operand=operand):
                inner = self.lower(operand)
                return None if inner is None else inner.scaled(Fraction(-1))
            case tree.Arithmetic():
                return self._chain(node)
            case _:
                return self.atom(node)

    def _chain(self, node: tree.Arithmetic) -> T | None:
        """A sum or product of many parts is a tree as deep as it is long, so it is walked, not recursed into."""
        steps = [node]
        while isinstance(steps[-1].left, tree.Arithmetic):
            steps.append(steps[-1].left)
        value = self.lower(steps[-1].left)
        for step in reversed(steps):
            right = self.lower(step.right)
            value = None if value is None or right is None else self._combine(step, step.operator, value, right)
        return value

    def _combine(self, node: tree.Arithmetic, operator: str, left: T, right: T) -> T | None:
        match operator:
            case "+":
                return left + right
            case "-":
                return left + right.scaled(Fraction(-1))
            case "*" if not left.terms:
                return right.scaled(left.constant)
            case "*" if not right.terms:
                return left.scaled(right.constant)
            case "/" if not right.terms and right.constant:
                return left.scaled(1 / right.constant)
        what = "a product of attributes" if operator == "*" else "a division by an attribute"
        if operator == "/" and not right.terms:
            self.reporter.report(
                errors.number_out_of_place("this divides by zero", node.right.span, "divide by another number")
            )
        else:
            self.reporter.report(errors.not_linear(node.span, what))
        return None
