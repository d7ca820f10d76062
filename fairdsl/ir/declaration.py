"""A model as the spec declares it: names resolved, files not yet opened. ``models`` turns it into IR."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from fairdsl.ir.expr import Predicate, Relation
from fairdsl.ir.feature import Form
from fairdsl.source import Span

#: What a file calls a class: a whole number or a text.
Label = int | str


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """``agrees with column "decision" in "recorded.csv" [sha256 "..."] [on 99%]``; 1 where no share is written."""

    column: str
    path: str
    sha256: str | None
    share: Fraction
    span: Span = field(compare=False, repr=False)
    digest_span: Span | None = field(compare=False, repr=False, default=None)


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
    """``OUTCOME when probability RELATION q`` with 0 < q < 1; ``label``: of ``probability(class = LABEL)``."""

    outcome: int
    relation: Relation
    threshold: Fraction
    label: Label | None = None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOf:
    """One line of a :class:`WhenClass`: the label that the file returns for an outcome."""

    outcome: int
    label: Label
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhenClass:
    """``OUTCOME when class = LABEL``, a line for each outcome but one, or for each: all outcomes and labels differ."""

    classes: tuple[ClassOf, ...]
    span: Span = field(compare=False, repr=False)

    @classmethod
    def of(cls, outcome: int, label: Label, span: Span) -> WhenClass:
        """The rule of one line."""
        return cls(classes=(ClassOf(outcome=outcome, label=label, span=span),), span=span)


@dataclass(frozen=True, slots=True, kw_only=True)
class Highest:
    """``decide by highest score``: the outcome whose score is the highest."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRules:
    """The rules themselves name the outcomes: there is no score to compare."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByAnswer:
    """No clause: the answers are the outcomes by their names; of a Python function also by their positions."""

    span: Span = field(compare=False, repr=False)


DecisionClause = WhenScore | WhenProbability | WhenClass | Highest | ByRules | ByAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDeclaration:
    """Everything the spec says about a model.

    ``reads`` is None when each attribute is an input, in the order of the domain (or by name where the
    file has one named input a column); ``ordered``: the outcomes are written in their order, ``{ low < high }``;
    ``reads_spans`` points at the feature that each form came from. ``recorded`` are
    the decisions that the model has to agree with.
    """

    name: str
    outcomes: tuple[str, ...]
    favourable: int | None
    ordered: bool = False
    source: ModelSource
    decision: DecisionClause
    reads: tuple[Form, ...] | None = None
    reads_spans: tuple[Span, ...] = field(compare=False, repr=False, default=())
    recorded: Recorded | None = None
    span: Span = field(compare=False, repr=False)
