"""The spec that an audit of predictions is: what is asked of the rows, as anybody can read, edit and check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from fairdsl.auditing.columns import Column, Outcome
from fairdsl.drafting.words import quoted
from fairdsl.ir.domain import show_number
from fairdsl.ir.metric import ACCEPTANCE, Comparison, Metric
from fairdsl.ir.rate import Each, Fact
from fairdsl.options.commands import Audit
from fairdsl.prelude import metrics, nearest
from fairdsl.source.names import value_text

#: What the names of properties begin with: all metrics by groups, against the privileged one, and rates of subgroups.
BY, AGAINST, SUBGROUPS = "by_", "against_", "subgroups_"

#: Rates of which a lower one is worse, as what is counted and among whom: of acceptance, true positives, accuracy.
_LOWER_IS_WORSE = (
    (Fact.FAVOURABLE, None),
    (Fact.FAVOURABLE, Fact.DESERVING),
    (Fact.CORRECT, None),
)


#: The numbers that are printed where none are named, as rate, condition and comparison: of decisions and of errors.
_FIRST = (
    (Fact.FAVOURABLE, None, Comparison.GAP),
    (Fact.FAVOURABLE, None, Comparison.RATIO),
    (Fact.FAVOURABLE, Each.LABEL, Comparison.GAP),
    (Fact.CORRECT, None, Comparison.GAP),
    (Fact.FAVOURABLE, None, Comparison.QUOTIENT),
    (Fact.FAVOURABLE, None, Comparison.DIFFERENCE),
    (Fact.FAVOURABLE, Each.LABEL, Comparison.DIFFERENCE),
)


def subgroup_metrics() -> tuple[str, ...]:
    """The gaps of the rates by which a subgroup is treated worst."""
    return tuple(
        metric.name
        for metric in metrics()
        if metric.comparison is Comparison.GAP
        and not metric.rate.along_paths
        and (metric.rate.event, metric.rate.given) in _LOWER_IS_WORSE
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """All that a spec of an audit is written from."""

    #: The title of the audit.
    title: str
    #: The table's path as the spec writes it.
    data: str
    #: Who is protected.
    groups: Sequence[Column]
    #: What was decided; None where the ``scores`` decide.
    decided: Outcome | None
    #: What became of people.
    label: Outcome | None
    scores: Column | None
    #: From which score on the decision is favourable.
    threshold: Fraction | None
    #: The group that everybody else is compared with: its values in the spec's words, by the names of attributes.
    privileged: Mapping[str, str]
    #: The names of the metrics; none: all.
    metrics: Sequence[str]
    settings: Audit

    @property
    def told(self) -> str:
        """What is favourable, in words."""
        if self.decided is not None:
            return self.decided.told
        assert self.scores is not None
        assert self.threshold is not None
        return f"`{self.scores.header}` >= {show_number(self.threshold)}"


def first_metrics(asked: Asked) -> tuple[str, ...]:
    """The few numbers that a page begins with."""
    kinds = (False, True) if asked.privileged else (False,)
    every = [metric for signed in kinds for metric in metrics_of(asked, signed=signed)]
    return tuple(m.name for m in every if (m.rate.event, m.rate.given, m.comparison) in _FIRST)


def _subsets(asked: Asked) -> list[tuple[Column, ...]]:
    """The columns that groups are made of together, the fewest first."""
    sizes = range(1, min(asked.settings.conditions, len(asked.groups)) + 1)
    return [chosen for size in sizes for chosen in combinations(asked.groups, size)]


def metrics_of(asked: Asked, *, signed: bool) -> list[Metric]:
    """The metrics that can be asked of these rows, with a privileged group or without one."""
    return [
        metric
        for metric in metrics()
        if metric.signed is signed
        and not metric.rate.along_paths
        and (asked.label is not None or not metric.rate.reads_label)
        and not (metric.needs_two_labels and asked.label is not None and asked.label.values > 2)
        and (not asked.metrics or {metric.name, *(alias.name for alias in metric.aliases)} & set(asked.metrics))
    ]


def spec_text(asked: Asked) -> str:
    """The whole spec; not laid out yet."""
    return "\n".join([*_head(asked), *_properties(asked), *_subgroups(asked), *_calibrated(asked)]) + "\n"


def _head(asked: Asked) -> Iterator[str]:
    yield "# Rates of what was decided about the people of a table, with intervals for those whom it was drawn from."
    yield f"fair 1\naudit {quoted(asked.title)}"
    yield "domain Row {"
    columns = [*asked.groups, *([asked.decided.column] if asked.decided else []), *filter(None, [asked.scores])]
    yield from (f"  {column.declared}" for column in columns)
    if asked.scores is not None and asked.label is not None:
        column = asked.label.column
        yield f'  became_of_them : {column.type} column "{column.header}"'
    yield "}"
    yield f"protected {', '.join(column.name for column in asked.groups)}"
    if asked.label is not None:
        yield f"label {asked.label.column.declared} deserving {asked.label.positive}"
    yield "model decided : Row -> { unfavourable, favourable }"
    yield f"  favourable when {_condition(asked)}\n  favourable favourable"
    over = "Row" if asked.label is None else f"Row, {asked.label.column.name}"
    yield f"distribution rows over {over}\n  empirical from {quoted(asked.data)}"


def _condition(asked: Asked) -> str:
    if asked.decided is not None:
        return asked.decided.condition
    assert asked.scores is not None
    assert asked.threshold is not None
    return f"{asked.scores.name} >= {show_number(asked.threshold)}"


def _properties(asked: Asked) -> Iterator[str]:
    """All metrics by each column, and for all combinations."""
    names = [metric.name for metric in metrics_of(asked, signed=False)]
    for chosen in _subsets(asked) if names else ():
        yield _property(f"{BY}{_joined(chosen)}", chosen, asked, names, asked.settings.confidence)
    signed = [metric.name for metric in metrics_of(asked, signed=True)]
    if asked.privileged and signed:
        named = [column for column in asked.groups if column.name in asked.privileged]
        group = " and ".join(f"{name} = {value_text(value)}" for name, value in asked.privileged.items())
        extra = f"  privileged {group}\n"
        yield _property(f"{AGAINST}{_joined(named)}", named, asked, signed, asked.settings.confidence, extra)


def _subgroups(asked: Asked) -> Iterator[str]:
    """The same rates once more, so sure each that those of all subgroups lie in their intervals at once."""
    chosen = _subsets(asked)
    if len(chosen) < 2:
        return
    each = 1 - (1 - asked.settings.confidence) / len(chosen)
    # Rounded up to six digits: more confidence than asked for widens the intervals.
    sure = Fraction(-((-each.numerator * 10**6) // each.denominator), 10**6)
    names = [name for name in subgroup_metrics() if name in {m.name for m in metrics_of(asked, signed=False)}]
    for columns in chosen if names else ():
        yield _property(f"{SUBGROUPS}{_joined(columns)}", columns, asked, names, sure)


def _calibrated(asked: Asked) -> Iterator[str]:
    """How often people of a score deserve it, by groups: their own outcomes as decisions, given the score."""
    if asked.scores is None or asked.label is None:
        return
    condition = asked.label.condition.replace(asked.label.column.name, "became_of_them")
    yield "model deserved : Row -> { undeserving, deserving }"
    yield f"  deserving when {condition}\n  favourable deserving"
    for column in asked.groups:
        extra = f"  model deserved\n  for each {asked.scores.name}\n"
        name = f"calibration_by_{column.name}"
        yield _property(name, [column], asked, [nearest(ACCEPTANCE).name], asked.settings.confidence, extra)


def _property(
    name: str, across: Sequence[Column], asked: Asked, metrics: Sequence[str], confidence: Fraction, extra: str = ""
) -> str:
    names = ", ".join(column.name for column in across)
    few = f"below {asked.settings.smallest} rows" if asked.settings.smallest > 1 else "of probability 0"
    sure = f"with confidence {show_number(100 * confidence)}%"
    demands = "\n".join(f"  measure {metric} {sure}" for metric in metrics)
    model = "" if "  model " in extra or asked.scores is None or asked.label is None else "  model decided\n"
    return f"property {name} {{\n  across {names}\n{model}{extra}  under rows\n  excluding groups {few}\n{demands}\n}}"


def _joined(columns: Sequence[Column]) -> str:
    return "_".join(column.name for column in columns)
