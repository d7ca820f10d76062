"""A spec after names and types: what elaboration needs, with no untyped tree left in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from fairdsl.ir.declaration import FileSource, ModelDeclaration
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Attribute, Domain, Type
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.ir.metric import Comparison
from fairdsl.ir.parameter import InForce
from fairdsl.ir.population import Normal
from fairdsl.ir.preset import FromPreset
from fairdsl.ir.question import GroupMetric, Precision, Quantity, Question, Threshold
from fairdsl.source import SourceFile, Span

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDeclaration:
    """The true outcome: a column of the data that is not an input of the model.

    ``deserving`` is the value of those who deserve the favourable outcome, where the spec says it.
    """

    name: str
    type: Type
    column: str | None
    deserving: Fraction | None = None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedModel:
    """A model's declaration and the domain it reads.

    ``declared_as`` is its name in the spec; where a parameter of it goes through values, each variant has a name of
    its own.
    """

    declaration: ModelDeclaration
    domain: Domain
    declared_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDistribution:
    """Values, as the numbers that stand for them, with probabilities that sum to exactly 1."""

    entries: tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformDistribution:
    """Every value from ``low`` to ``high``, both included, alike: counted for integers, by length for reals."""

    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDistribution:
    """``income : normal(0.6, 0.1) given older = yes``: of a column where ``given`` holds of the others.

    A ``bernoulli(p)`` is the table of false and true.
    """

    column: int
    shape: TableDistribution | UniformDistribution | Normal
    given: Predicate = TRUE
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An arrow of a written graph between two columns; ``span`` is where it is written."""

    parent: int
    child: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDistribution:
    """A population as declared: what it ranges over, its kind, and all that defines it.

    Columns are the domain's attributes and, behind them, the label. ``kind`` is one of

    =============== =================================================================================
    ``uniform``     every individual of the domain alike; no file
    ``independent`` columns independent of each other, or, with ``given``, of each other given those; from rows
    ``empirical``   the rows of ``source`` themselves
    ``learned``     a Bayesian network whose structure is searched for in the rows of ``source``
    ``fitted``      the written graph ``graph`` with its ``edges`` and parameters from the rows of ``source``
    ``explicit``    ``distributions``, at least one a column
    ``file``        a network in the file ``source``
    =============== =================================================================================

    ``settings`` have been checked: ``score`` is one of k2, bic and bdeu, ``max_parents`` and ``seed`` are whole
    numbers from 0, ``equivalent_sample_size`` is positive, ``protected_roots`` and ``renormalise`` are 0 or 1,
    ``search`` is a word. ``protected`` are the protected columns.
    """

    name: str
    domain: Domain
    label: LabelDeclaration | None
    kind: str
    source: FileSource | None
    settings: tuple[tuple[str, Fraction | str], ...]
    distributions: tuple[ColumnDistribution, ...] = ()
    graph: str | None = None
    edges: tuple[Edge, ...] = ()
    given: tuple[int, ...] = ()
    protected: tuple[int, ...] = ()
    span: Span = field(compare=False, repr=False)

    @property
    def columns(self) -> tuple[Attribute, ...]:
        """The domain's attributes and, where there is one, the label as one more."""
        if self.label is None:
            return self.domain.attributes
        label = self.label
        extra = Attribute(name=label.name, type=label.type, column=label.column, span=label.span)
        return (*self.domain.attributes, extra)

    @property
    def sampled(self) -> bool:
        """Whether the distribution is estimated from rows."""
        return self.kind in ("independent", "empirical", "learned", "fitted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtrahend:
    """What is taken from a metric: another one, ``of`` a model where it is not the property's."""

    question: GroupMetric
    of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One ``require`` or one measured metric: the question, what is asked of it, and its threshold.

    ``threshold`` is None for a measure and for ``require same decision``, which holds or does not.
    It is asked ``of`` another model than the property's, if one is named, and ``less`` is taken from its number.
    A share is taken ``under`` a distribution, if one is named, of those in it who are ``given``, and a yes or no under
    the rows of one. With
    ``precision`` an estimate of it is enough; of a yes or no the spec is content with the confidence ``certain``.
    ``beyond`` are the places of clauses in force that no backend treats yet; the demand is refused for them.
    """

    text: str
    metric: str
    question: Question | Demanded
    quantity: Quantity
    threshold: Threshold | None
    required: bool
    of: str | None = None
    less: Subtrahend | None = None
    precision: Precision | None = None
    under: str | None = None
    given: Predicate = TRUE
    certain: Fraction | None = None
    beyond: tuple[Span, ...] = field(compare=False, repr=False, default=())
    span: Span = field(compare=False, repr=False)

    @property
    def comparison(self) -> Comparison | None:
        """How its metric compares rates; None where it is none of groups."""
        return self.question.metric.comparison if isinstance(self.question, GroupMetric) and not self.less else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProperty:
    """A property whose names are resolved and whose question makes sense.

    ``sentences`` and ``formulas`` say what its demands ask, the leading one's first.
    """

    name: str
    title: str | None
    model: str
    domain: Domain
    demands: tuple[Demand, ...]
    clauses: tuple[str, ...]
    sentences: tuple[str, ...]
    formulas: tuple[str, ...]
    span: Span = field(compare=False, repr=False)
    preset: FromPreset | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The model that it is about, and those that single demands are about."""
        others = [name for each in self.demands for name in (each.of, each.less.of if each.less else None)]
        others += [
            name for each in self.demands if isinstance(each.question, Demanded) for name in each.question.models
        ]
        return tuple(dict.fromkeys((self.model, *(name for name in others if name is not None))))

    @property
    def family(self) -> str:
        """The name that the spec writes: that in front of the brackets, where `for each` made it."""
        return self.name.partition("[")[0]

    @property
    def sentence(self) -> str:
        """The leading demand's."""
        return self.sentences[0]

    @property
    def formula(self) -> str:
        """The leading demand's."""
        return self.formulas[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSpec:
    """Everything a spec declares, its own and what it uses."""

    source: SourceFile
    #: The files that it uses, in the order in which they are needed.
    used: tuple[SourceFile, ...] = field(default=(), kw_only=True)
    title: str | None
    domains: Mapping[str, Domain]
    labels: Mapping[str, LabelDeclaration]
    models: Mapping[str, CheckedModel]
    distributions: Mapping[str, CheckedDistribution]
    properties: tuple[CheckedProperty, ...]
    parameters: tuple[InForce, ...] = ()
    #: The names of the attributes that are declared protected.
    protected: frozenset[str] = frozenset()

    def restricted_to(self, names: Collection[str]) -> CheckedSpec:
        """The same spec with only these properties; with no names, all of them.

        The name in front of the brackets means all properties that `for each` made of it.
        """
        kept = tuple(checked for checked in self.properties if not names or {checked.name, checked.family} & {*names})
        return replace(self, properties=kept)

    def of_variants(self, given: Mapping[str, V]) -> dict[str, V]:
        """What is given for models by their names in the spec, for each of their variants."""
        variants = {name: given[model.declared_as] for name, model in self.models.items() if model.declared_as in given}
        return {**given, **variants}
