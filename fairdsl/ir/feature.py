"""What models read: attributes as numbers, indicators of predicates, and exact linear forms of both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.expr import Predicate


@dataclass(frozen=True, slots=True)
class AttributeInput:
    """The number of one attribute, by its position in the domain."""

    #: The attribute.
    attribute: int


@dataclass(frozen=True, slots=True)
class IndicatorInput:
    """1 where the predicate (over ``Who.EACH``) holds, 0 elsewhere."""

    #: The predicate.
    predicate: Predicate


Input = AttributeInput | IndicatorInput


@dataclass(frozen=True, slots=True)
class Form:
    """``constant + sum of coefficient * input``; inputs are distinct, coefficients non-zero."""

    terms: tuple[tuple[Input, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, item: Input) -> Form:
        """The input itself."""
        return cls(((item, Fraction(1)),))

    @property
    def alone(self) -> int | None:
        """The attribute that it is as it stands; None where it is anything else."""
        match self:
            case Form(terms=((AttributeInput(attribute), factor),), constant=constant) if factor == 1 and not constant:
                return attribute
        return None

    def __add__(self, other: Form) -> Form:
        coefficients = dict(self.terms)
        for item, coefficient in other.terms:
            coefficients[item] = coefficients.get(item, Fraction(0)) + coefficient
        return Form(tuple((i, c) for i, c in coefficients.items() if c), self.constant + other.constant)

    def scaled(self, factor: Fraction) -> Form:
        """The form times a number."""
        return Form(tuple((i, c * factor) for i, c in self.terms if factor), self.constant * factor)
