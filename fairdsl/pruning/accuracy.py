"""What pruning did to the decisions: on a table with the true outcomes, and on random individuals.

Decisions are those of the two files, as they are deployed. On random individuals the share of changed decisions is
an estimate with the interval of Clopper and Pearson, about the uniform distribution on the domain and no other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fairdsl.codec import INLINE
from fairdsl.data.table import Table, read_table
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, Domain
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.model import Model
from fairdsl.models.evaluators import decided
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.narrow import narrow
from fairdsl.pruning import errors
from fairdsl.pruning.changes import decided_differently
from fairdsl.semantics.checked import CheckedSpec, LabelDeclaration

_CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """What the two networks decide on the rows of a table."""

    #: The table.
    path: str
    #: Its digest.
    sha256: str
    #: The label that says what is right.
    label: str
    #: How many rows there are.
    rows: int
    #: Rows that the original decides as the label says.
    before: int
    #: Rows that the pruned network decides as the label says.
    after: int
    #: Rows that the two decide differently.
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """How many individuals of the domain the two networks decide differently: an estimate with its interval."""

    #: Individuals that were drawn.
    drawn: int
    #: Those of them that are decided differently.
    changed: int
    #: An interval for their share of the domain.
    interval: Annotated[Enclosure, INLINE]
    #: The probability, at least, that the interval contains the share.
    confidence: Fraction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """A table, and the outcome that is right in each of its rows."""

    table: Table
    label: str
    right: NDArray[np.int64]


def labelled(spec: CheckedSpec, domain: Domain, model: Model, path: str) -> Labelled:
    """The rows of the CSV file, with what the spec's label says of them.

    Raises DiagnosticError where the spec has no one label whose values stand for the model's outcomes (E0562),
    or the file is not a table of the domain (E0530 to E0533).
    """
    label = label_of(spec)
    outcome_of = outcomes_by_value(label, model.outcomes, model.favourable)
    column = Attribute(name=label.name, type=label.type, column=label.column, span=label.span)
    table = read_table(path, domain, column)
    right = np.array([outcome_of[value] for value in table.label_codes.tolist()], dtype=np.int64)
    return Labelled(table=table, label=label.name, right=right)


def accuracy(rows: Labelled, before: Model, after: Model) -> Accuracy:
    """How many rows both files decide as the label says."""
    decided_before, decided_after = decided(before, rows.table.values), decided(after, rows.table.values)
    return Accuracy(
        path=rows.table.path,
        sha256=rows.table.sha256,
        label=rows.label,
        rows=rows.table.rows,
        before=int(np.count_nonzero(decided_before == rows.right)),
        after=int(np.count_nonzero(decided_after == rows.right)),
        changed=int(np.count_nonzero(decided_before != decided_after)),
    )


def disagreement(domain: Domain, before: Model, after: Model, points: int, seed: int) -> Disagreement | None:
    """How often the files decide differently, for individuals that are uniform over the domain.

    None where no distribution is uniform, for a real attribute is unbounded, and where no individual was drawn.
    """
    drawn, changed = decided_differently(domain, narrow(domain), before, after, points, seed, decide=decided)
    if not drawn:
        return None
    interval = clopper_pearson(changed, drawn, float(_CONFIDENCE))
    return Disagreement(drawn=drawn, changed=changed, interval=interval, confidence=_CONFIDENCE)


def label_of(spec: CheckedSpec) -> LabelDeclaration:
    """The one label that the spec declares; raises DiagnosticError (E0562) where it declares none or several."""
    labels = list(spec.labels.values())
    if len(labels) == 1:
        return labels[0]
    declared = ", ".join(f"`{label.name}`" for label in labels)
    reason = f"the spec declares the labels {declared}" if labels else "the spec declares no label"
    help_text = 'declare one, as in `label repaid : boolean column "repaid"`'
    span = labels[1].span if labels else None
    raise DiagnosticError(errors.label_not_compared(reason, span, help_text))


def outcomes_by_value(label: LabelDeclaration, outcomes: Sequence[str], favourable: int | None) -> Mapping[float, int]:
    """Which outcome each value of the label says was right.

    A category names outcomes. Otherwise, of two outcomes the favourable one was right for those who are `deserving`,
    where the label has two values and says so; of a boolean that does not, for those with true. Nothing else is
    guessed. Raises DiagnosticError (E0562) where the values stand for no outcomes.
    """
    match label.type:
        case Category(values=values) if all(value.name in outcomes for value in values):
            return {float(value.code): outcomes.index(value.name) for value in values}
        case Boolean() if len(outcomes) == 2 and favourable is not None:
            return _by_desert((0, 1), 1 if label.deserving is None else label.deserving, favourable)
        case Category(values=(one, other)) if (
            len(outcomes) == 2 and favourable is not None and label.deserving is not None
        ):
            return _by_desert((one.code, other.code), label.deserving, favourable)
    listed = ", ".join(outcomes)
    reason = f"its values do not say which of `{'`, `'.join(outcomes)}` was right"
    help_text = f"declare the label as `category {{ {listed} }}`"
    if len(outcomes) == 2:
        help_text += (
            "; or say `favourable` in the model, and in the label of two values `deserving` (without it, true of a "
            "`boolean` is meant)"
        )
    raise DiagnosticError(errors.label_not_compared(reason, label.span, help_text))


def _by_desert(values: tuple[int, int], deserving: Fraction | int, favourable: int) -> Mapping[float, int]:
    return {float(value): favourable if value == deserving else 1 - favourable for value in values}
