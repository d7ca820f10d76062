"""What a model is given of people who lack a value: NaN, or an empty text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.ir.domain import Domain
from fairdsl.ir.feature import AttributeInput, Form

__all__ = ["codes_of_missing"]


def codes_of_missing(forms: Sequence[Form], domain: Domain) -> tuple[Fraction | None, ...]:
    """For each feature the number that says that it is missing; None where it never is.

    What somebody lacks is read as it stands or not at all (``semantics/features.py``).
    """
    found: list[Fraction | None] = []
    for form in forms:
        read = [item.attribute for item, _ in form.terms if isinstance(item, AttributeInput)]
        codes = [code for attribute in read if (code := domain.attributes[attribute].missing) is not None]
        if codes and form != Form.of(AttributeInput(read[0])):
            raise ValueError("a sum of what may be missing is no feature")
        found.append(codes[0] if codes else None)
    return tuple(found)
