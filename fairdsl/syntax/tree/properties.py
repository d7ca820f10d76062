"""Properties and the clauses in them."""

from __future__ import annotations

from enum import Enum

from fairdsl.syntax.tree.expressions import Call, Expression, Influence, OfModel
from fairdsl.syntax.tree.node import Name, Node, Number, Text, node
from fairdsl.syntax.tree.populations import Path


@node
class NamedCondition(Node):
    """``condition senior [over Applicant] = age >= 60``; a property refers to it by its name."""

    doc: tuple[str, ...]
    name: Name
    domain: Name | None
    condition: Expression


@node
class Metric(Node):
    """``metric miss_rate_gap = gap(rate(refuse given sick = yes))``; another name alone is another name for it."""

    doc: tuple[str, ...]
    name: Name
    definition: Expression


@node
class NameSet(Node):
    """``(sex, race)`` among the values of ``for each``: names that stand together where the variable stands."""

    names: tuple[Name, ...]


@node
class ForEachClause(Node):
    """``for each G in { sex, race, (sex, race) }``, or ``for each s in site``: of each of its values (or None)."""

    variable: Name
    values: tuple[Name | Number | NameSet, ...]
    attribute: Name | None


@node
class CompareClause(Node):
    """``compare a, b : Applicant``, or ``compare a : Applicant`` of one individual."""

    names: tuple[Name, ...]
    domain: Name

    @property
    def first(self) -> Name:
        """The first of those who are compared."""
        return self.names[0]

    @property
    def second(self) -> Name:
        """The other one of a pair; of one individual itself."""
        return self.names[-1]


@node
class AcrossClause(Node):
    """``across race, sex``."""

    names: tuple[Name, ...]


@node
class ModelReference(Node):
    """``model screen`` inside a property: which model it is about, where there are several."""

    name: Name


class DifferMode(Enum):
    """How several attributes differ."""

    ANY = "any"
    EACH = "each"


@node
class DifferClause(Node):
    """``differ in any sex, age``; one name has no mode."""

    mode: DifferMode | None
    names: tuple[Name, ...]


@node
class WithinClause(Node):
    """``within 5 in age``: the two may be that far apart."""

    by: Number
    name: Name


@node
class RegardlessClause(Node):
    """``regardless of job, telephone``: the two may have any values of them."""

    names: tuple[Name, ...]


@node
class OtherwiseEqualClause(Node):
    """``otherwise equal``: says what is so without it, that all else is held equal."""


@node
class AmongClause(Node):
    """``among EXPRESSION``: whom the property is about; several of them mean `and`."""

    condition: Expression


@node
class StrataClause(Node):
    """``for each age, job``: the metric at each of their values by itself, of which the worst counts."""

    names: tuple[Name, ...]


@node
class WhenClause(Node):
    """``when confidence(a) >= 0.9``."""

    condition: Expression


@node
class UnderClause(Node):
    """``under cohort``."""

    distribution: Name


@node
class ExcludingClause(Node):
    """``excluding groups below 30 rows`` or ``below 2% of rows``, or ``of probability 0`` (then ``rows`` is None)."""

    rows: Number | None
    of_all: bool = False


@node
class AllowClause(Node):
    """``allow sex -> department -> admit``."""

    path: Path


@node
class BaselineClause(Node):
    """``baseline sex = male`` or ``baseline most_favoured``."""

    group: Expression


@node
class PrivilegedClause(Node):
    """``privileged sex = male``: AIF360's signed metrics need it."""

    group: Expression


@node
class SameDecision(Node):
    """``require same decision``."""


@node
class RequireClause(Node):
    """``require DEMAND [within 1%] [with confidence 95%]``."""

    demand: Expression | SameDecision
    within: Number | None
    confidence: Number | None


@node
class MeasureItem(Node):
    """A metric to report, ``discrimination_rate within 0.1% with confidence 99%`` with the precision asked for."""

    metric: Name | Influence | Call | OfModel
    within: Number | None
    confidence: Number | None


@node
class MeasureClause(Node):
    """``measure fair_share, discrimination_rate``."""

    items: tuple[MeasureItem, ...]


Clause = (
    ForEachClause
    | CompareClause
    | AcrossClause
    | ModelReference
    | DifferClause
    | WithinClause
    | RegardlessClause
    | OtherwiseEqualClause
    | AmongClause
    | StrataClause
    | WhenClause
    | UnderClause
    | ExcludingClause
    | AllowClause
    | BaselineClause
    | PrivilegedClause
    | RequireClause
    | MeasureClause
)


@node
class Apply(Node):
    """``apply preset ll144 to approve across sex, race under cohort``: properties that ship with the language."""

    preset: Name
    model: Name
    across: AcrossClause
    under: UnderClause


@node
class Property(Node):
    """``property NAME "sentence" { clauses }``."""

    doc: tuple[str, ...]
    name: Name
    sentence: Text | None
    clauses: tuple[Clause, ...]
