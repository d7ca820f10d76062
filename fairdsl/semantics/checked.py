"""A spec after names and types: what elaboration needs, with no untyped tree left in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.ir.declaration import FileSource, ModelDeclaration
from fairdsl.ir.domain import Domain, Type
from fairdsl.ir.question import Quantity, Question, Threshold
from fairdsl.source import SourceFile, Span

__all__ = [
    "CheckedDistribution",
    "CheckedModel",
    "CheckedProperty",
    "CheckedSpec",
    "Demand",
    "LabelDeclaration",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDeclaration:
    """The true outcome: a column of the data that is no input of the model."""

    name: str
    type: Type
    column: str | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedModel:
    """A model's declaration and the domain it reads."""

    declaration: ModelDeclaration
    domain: Domain


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDistribution:
    """A population as declared: what it ranges over, the kind of law and its file."""

    name: str
    domain: Domain
    label: LabelDeclaration | None
    kind: str
    source: FileSource | None
    settings: tuple[tuple[str, Fraction | str], ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One ``require`` or one measured metric: the question, what is asked of it, and its threshold.

    ``threshold`` is None for a measure and for ``require same decision``, which holds or does not.
    ``beyond`` are the places of clauses in force that no backend treats yet; the demand is refused for them.
    """

    text: str
    metric: str
    question: Question
    quantity: Quantity
    threshold: Threshold | None
    required: bool
    beyond: tuple[Span, ...] = field(compare=False, repr=False, default=())
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProperty:
    """A property whose names are resolved and whose question makes sense."""

    name: str
    title: str | None
    model: str
    domain: Domain
    demands: tuple[Demand, ...]
    clauses: tuple[str, ...]
    sentence: str
    formula: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSpec:
    """Everything a spec declares, its own and what it uses."""

    source: SourceFile
    title: str | None
    doc: tuple[str, ...]
    domains: Mapping[str, Domain]
    labels: Mapping[str, LabelDeclaration]
    protected: tuple[str, ...]
    models: Mapping[str, CheckedModel]
    distributions: Mapping[str, CheckedDistribution]
    properties: tuple[CheckedProperty, ...]

    def restricted_to(self, names: Collection[str]) -> CheckedSpec:
        """The same spec with only these properties; with no names, all of them."""
        kept = tuple(checked for checked in self.properties if not names or checked.name in names)
        return replace(self, properties=kept)
