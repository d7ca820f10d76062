"""A problem: one question about one model, closed - no names left to resolve, no files left to open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairdsl.ir.domain import Domain
from fairdsl.ir.question import Quantity, Question
from fairdsl.source import Span

if TYPE_CHECKING:
    from fairdsl.ir.model import Model

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What the backends answer. ``name`` is the property's, for file names and messages."""

    name: str
    domain: Domain
    model: Model
    question: Question
    quantity: Quantity
    span: Span | None = field(compare=False, repr=False, default=None)
