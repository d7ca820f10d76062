"""What each name in a spec is a name of: by the class of the tree that it hangs in, and the field.

This is the one table behind definitions, references, renaming, completion, hovering and colours. A test reads the
classes of the tree and asks for a line here for every field that holds names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from fairdsl.ir.rate import Each
from fairdsl.prelude import FACTS, TERMS, known_metrics
from fairdsl.prelude.presets import preset_names
from fairdsl.semantics.conditions.outputs import FUNCTIONS
from fairdsl.semantics.distributions import FAMILIES
from fairdsl.semantics.settings import SCORES, SETTINGS
from fairdsl.syntax import tree


class Kind(Enum):
    """What is declared by a name."""

    PARAMETER = "parameter"
    DOMAIN = "domain"
    ATTRIBUTE = "attribute"
    LABEL = "label"
    VALUE = "value"
    MODEL = "model"
    OUTCOME = "outcome"
    DISTRIBUTION = "distribution"
    GRAPH = "graph"
    CONDITION = "condition"
    METRIC = "metric"
    PROPERTY = "property"
    #: Known within one property only.
    INDIVIDUAL = "individual"
    #: Known within one property only, where it represents something else in turn.
    VARIABLE = "variable"


@dataclass(frozen=True, slots=True)
class Role:
    """What a name in a field is: it ``declares`` one kind, or means one of the ``kinds``, or is one of the ``words``.

    ``beside``: a value of the attribute, or an outcome of the model, that it is compared with comes first.
    """

    kinds: tuple[Kind, ...] = ()
    declares: Kind | None = None
    words: Callable[[], tuple[str, ...]] = tuple
    beside: bool = False


def _declares(kind: Kind) -> Role:
    return Role(declares=kind)


_COLUMNS = (Kind.ATTRIBUTE, Kind.LABEL)
_ANYTHING = (*_COLUMNS, Kind.VALUE, Kind.OUTCOME, Kind.METRIC, Kind.MODEL, Kind.DISTRIBUTION, Kind.CONDITION)
_SWEPT = (Kind.VARIABLE, *_COLUMNS)


def _in_expressions() -> tuple[str, ...]:
    words = ("yes", "no", "true", "false", "class", *FUNCTIONS, *sorted(TERMS), *FACTS, "median")
    return (*dict.fromkeys(words), *known_metrics())


#: Each field that holds names.
ROLES: Mapping[tuple[type[tree.Node], str], Role] = MappingProxyType(
    {
        (tree.Parameter, "name"): _declares(Kind.PARAMETER),
        (tree.Domain, "name"): _declares(Kind.DOMAIN),
        (tree.Attribute, "name"): _declares(Kind.ATTRIBUTE),
        (tree.Derived, "name"): _declares(Kind.ATTRIBUTE),
        (tree.CategoryEntry, "name"): _declares(Kind.VALUE),
        (tree.Label, "name"): _declares(Kind.LABEL),
        (tree.Model, "name"): _declares(Kind.MODEL),
        (tree.Model, "outcomes"): _declares(Kind.OUTCOME),
        (tree.Distribution, "name"): _declares(Kind.DISTRIBUTION),
        (tree.Graph, "name"): _declares(Kind.GRAPH),
        (tree.NamedCondition, "name"): _declares(Kind.CONDITION),
        (tree.Metric, "name"): _declares(Kind.METRIC),
        (tree.Property, "name"): _declares(Kind.PROPERTY),
        (tree.CompareClause, "names"): _declares(Kind.INDIVIDUAL),
        (tree.ForEachClause, "variable"): _declares(Kind.VARIABLE),
        (tree.Protected, "names"): Role((Kind.ATTRIBUTE,)),
        (tree.Label, "deserving"): Role((Kind.VALUE,), words=lambda: ("yes", "no"), beside=True),
        (tree.Model, "domain"): Role((Kind.DOMAIN,)),
        (tree.From, "format"): Role(words=lambda: ("black_box",)),
        (tree.DecidesWhen, "outcome"): Role((Kind.OUTCOME,), beside=True),
        (tree.Rule, "outcome"): Role((Kind.OUTCOME,), beside=True),
        (tree.Otherwise, "outcome"): Role((Kind.OUTCOME,), beside=True),
        (tree.Favourable, "outcome"): Role((Kind.OUTCOME,), beside=True),
        (tree.Distribution, "over"): Role((Kind.DOMAIN, Kind.LABEL)),
        (tree.Learn, "structure"): Role((Kind.GRAPH,), words=lambda: ("bayesian_network",)),
        (tree.Independent, "given"): Role(_COLUMNS),
        (tree.Setting, "name"): Role(words=lambda: tuple(SETTINGS)),
        (tree.Setting, "value"): Role(words=lambda: (*SCORES, "yes", "no")),
        (tree.TableEntry, "value"): Role((Kind.VALUE,), words=lambda: ("yes", "no"), beside=True),
        (tree.Family, "name"): Role(words=lambda: tuple(FAMILIES)),
        (tree.ColumnDistribution, "variable"): Role(_COLUMNS),
        (tree.Path, "names"): Role((*_SWEPT, Kind.MODEL)),
        (tree.NamedCondition, "domain"): Role((Kind.DOMAIN,)),
        (tree.NameSet, "names"): Role(_ANYTHING),
        (tree.ForEachClause, "values"): Role(_ANYTHING, words=known_metrics),
        (tree.ForEachClause, "axis"): Role(_COLUMNS),
        (tree.CompareClause, "domain"): Role((Kind.DOMAIN,)),
        (tree.AcrossClause, "names"): Role(_SWEPT),
        (tree.ModelReference, "name"): Role((Kind.VARIABLE, Kind.MODEL)),
        (tree.DifferClause, "names"): Role(_SWEPT),
        (tree.ApartClause, "name"): Role(_SWEPT),
        (tree.RegardlessClause, "names"): Role(_SWEPT),
        (tree.StrataClause, "names"): Role(_SWEPT),
        (tree.UnderClause, "distribution"): Role((Kind.VARIABLE, Kind.DISTRIBUTION)),
        (tree.MeasureItem, "metric"): Role(
            (Kind.VARIABLE, Kind.METRIC), words=lambda: (*sorted(TERMS), *known_metrics())
        ),
        (tree.Apply, "preset"): Role(words=preset_names),
        (tree.Apply, "model"): Role((Kind.MODEL,)),
        (tree.Reference, "owner"): Role((Kind.INDIVIDUAL, Kind.MODEL)),
        (tree.Reference, "name"): Role(
            (Kind.VARIABLE, *_COLUMNS, Kind.CONDITION, Kind.METRIC, Kind.PARAMETER, Kind.OUTCOME, Kind.INDIVIDUAL,
             Kind.VALUE, Kind.MODEL),
            words=_in_expressions,
            beside=True,
        ),
        (tree.Each, "name"): Role((Kind.LABEL, Kind.ATTRIBUTE), words=lambda: tuple(each.value for each in Each)),
        (tree.Call, "owner"): Role((Kind.VARIABLE, Kind.MODEL)),
        (tree.Call, "function"): Role(
            (Kind.VARIABLE, Kind.MODEL, Kind.METRIC), words=lambda: tuple(dict.fromkeys((*FUNCTIONS, *sorted(TERMS))))
        ),
        (tree.OfModel, "metric"): Role((Kind.VARIABLE, Kind.METRIC), words=known_metrics),
        (tree.OfModel, "model"): Role((Kind.VARIABLE, Kind.MODEL)),
        (tree.DrawnFrom, "name"): Role(_SWEPT),
        (tree.Influence, "subsets"): Role(_SWEPT),
        (tree.Influence, "metric"): Role((Kind.METRIC,), words=known_metrics),
        (tree.Membership, "elements"): Role(
            (Kind.VARIABLE, Kind.VALUE, Kind.OUTCOME, Kind.PARAMETER), words=lambda: ("yes", "no"), beside=True
        ),
        (tree.NamedNumber, "name"): Role((Kind.VARIABLE, Kind.PARAMETER)),
    }
)  # fmt: skip
