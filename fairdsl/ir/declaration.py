"""A model as the spec declares it: names resolved, files not yet opened. ``models`` turns it into IR."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from fairdsl.ir.expr import Predicate, Relation
from fairdsl.ir.feature import Form
from fairdsl.source import Span

__all__ = [
    "ByAnswer",
    "ByRules",
    "CallableSource",
    "DecisionClause",
    "FileSource",
    "Highest",
    "InlineScore",
    "ModelDeclaration",
    "ModelSource",
    "Rule",
    "RuleList",
    "WhenClass",
    "WhenProbability",
    "WhenScore",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """``from [format] "path" [sha256 "..."]``; ``path`` is already relative to the working directory."""

    path: str
    format: str | None
    sha256: str | None
    span: Span = field(compare=False, repr=False)
    digest_span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallableSource:
    """``from callable``: a Python function that the caller of the API gives."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineScore:
    """``score = form``, or the indicator of a rule (then the decision is ``score > 0``)."""

    form: Form
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``then OUTCOME when CONDITION``: whoever meets the condition, and that of no rule before it, gets the outcome."""

    condition: Predicate
    outcome: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleList:
    """Rules in order, at least one; the first whose condition holds decides, and ``otherwise`` where none does.

    ``sha256`` is that of the document that they were read from, None where they are written in the spec.
    """

    rules: tuple[Rule, ...]
    otherwise: int
    sha256: str | None = None
    span: Span = field(compare=False, repr=False)


ModelSource = FileSource | CallableSource | InlineScore | RuleList


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenScore:
    """``OUTCOME when score RELATION threshold`` (an order relation)."""

    outcome: int
    relation: Relation
    threshold: Fraction
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenProbability:
    """``OUTCOME when probability RELATION q`` with 0 < q < 1."""

    outcome: int
    relation: Relation
    threshold: Fraction
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenClass:
    """``OUTCOME when class = index``."""

    outcome: int
    index: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Highest:
    """``decide by highest score``: outcome i where score i is the highest."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRules:
    """The rules themselves name the outcomes: there is no score to compare."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByAnswer:
    """A black box's answers are the outcomes: their names, or their positions in the declaration."""

    span: Span = field(compare=False, repr=False)


DecisionClause = WhenScore | WhenProbability | WhenClass | Highest | ByRules | ByAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDeclaration:
    """Everything the spec says about a model.

    ``reads`` is None when each attribute is an input, in the order of the domain (or by name where the
    file has one named input a column); ``reads_spans`` points at the feature that each form came from.
    """

    name: str
    outcomes: tuple[str, ...]
    favourable: int | None
    source: ModelSource
    decision: DecisionClause
    reads: tuple[Form, ...] | None = None
    reads_spans: tuple[Span, ...] = field(compare=False, repr=False, default=())
    span: Span = field(compare=False, repr=False)
