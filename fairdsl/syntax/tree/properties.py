"""Properties and the clauses in them."""

from __future__ import annotations

from enum import Enum

from fairdsl.syntax.tree.expressions import Call, Expression, Influence, OfModel
from fairdsl.syntax.tree.node import About, Name, Node, Number, Text, node
from fairdsl.syntax.tree.populations import Path


@node("condition <name> [over <domain>] = <condition>", example="condition senior = age >= 60")
class NamedCondition(Node):
    """``condition senior [over Applicant] = age >= 60``; a property refers to it by its name."""

    doc: tuple[str, ...]
    name: Name
    domain: Name | None
    condition: Expression


@node("metric <name> = <definition>", example="metric miss_rate_gap = gap(rate(refuse given sick = yes))")
class Metric(Node):
    """``metric miss_rate_gap = gap(rate(refuse given sick = yes))``; another name alone is another name for it."""

    doc: tuple[str, ...]
    name: Name
    definition: Expression


@node("(<names>)")
class NameSet(Node):
    """``(sex, race)`` among the values of ``for each``: names that stand together where the variable stands."""

    names: tuple[Name, ...]


@node("for each <variable> in [{ <values> }][<axis>]", example="for each site in { north, south }")
class ForEachClause(Node):
    """``for each G in { sex, race, (sex, race) }``, or ``for each s in site``: of each of its values (or None)."""

    variable: Name
    values: tuple[Name | Number | NameSet, ...]
    axis: Name | None


@node("compare <names> : <domain>", once=True, example="compare a, b : Applicant")
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


@node("across <names>", once=True, example="across sex")
class AcrossClause(Node):
    """``across race, sex``."""

    names: tuple[Name, ...]


@node("model <name>", once=True, example="model approve")
class ModelReference(Node):
    """``model screen`` inside a property: which model it is about, where there are several."""

    name: Name


class DifferMode(Enum):
    """How several attributes differ."""

    ANY = "any"
    EACH = "each"


@node("differ in [<mode>] <names>", about=About.PAIRS, once=True, example="differ in sex")
class DifferClause(Node):
    """``differ in any sex, age``; one name has no mode."""

    mode: DifferMode | None
    names: tuple[Name, ...]


@node("within <by> in <name>", about=About.PAIRS, example="within 5 in age")
class ApartClause(Node):
    """``within 5 in age``: the two may be that far apart."""

    by: Number
    name: Name


@node("regardless of <names>", about=About.PAIRS, example="regardless of job")
class RegardlessClause(Node):
    """``regardless of job, telephone``: the two may have any values of them."""

    names: tuple[Name, ...]


@node("otherwise equal", about=About.PAIRS, once=True, example="otherwise equal")
class OtherwiseEqualClause(Node):
    """``otherwise equal``: says what is so without it, that all else is held equal."""


@node("among <condition>", example="among age >= 18")
class AmongClause(Node):
    """``among EXPRESSION``: whom the property is about; several of them mean `and`."""

    condition: Expression


@node("for each <names>", about=About.GROUPS, example="for each job")
class StrataClause(Node):
    """``for each age, job``: the metric at each of their values by itself, of which the worst counts."""

    names: tuple[Name, ...]


@node("when <condition>", about=About.INDIVIDUALS, example="when confidence(a) >= 0.9")
class WhenClause(Node):
    """``when confidence(a) >= 0.9``."""

    condition: Expression


@node("under <distribution> [given <given>]", once=True, example="under cohort")
class UnderClause(Node):
    """``under cohort``, or ``under cohort given sex = female``: of whom in it a share is."""

    distribution: Name
    given: Expression | None = None


@node(
    "excluding groups [below <rows> [?of_all of] rows][!rows of probability 0]",
    about=About.GROUPS,
    once=True,
    example="excluding groups below 30 rows",
)
class ExcludingClause(Node):
    """``excluding groups below 30 rows`` or ``below 2% of rows``, or ``of probability 0`` (then ``rows`` is None)."""

    rows: Number | None
    of_all: bool = False


@node("allow <path>", about=About.GROUPS, example="allow sex -> department -> admit")
class AllowClause(Node):
    """``allow sex -> department -> admit``."""

    path: Path


@node("baseline <group>", about=About.GROUPS, once=True, example="baseline sex = male")
class BaselineClause(Node):
    """``baseline sex = male`` or ``baseline most_favoured``."""

    group: Expression


@node("privileged <group>", about=About.GROUPS, once=True, example="privileged sex = male")
class PrivilegedClause(Node):
    """``privileged sex = male``: AIF360's signed metrics need it."""

    group: Expression


@node("same decision")
class SameDecision(Node):
    """``require same decision``."""


@node("require <demand> [within <within>] [with confidence <confidence>]", example="require same decision")
class RequireClause(Node):
    """``require DEMAND [within 1%] [with confidence 95%]``."""

    demand: Expression | SameDecision
    within: Number | None
    confidence: Number | None


@node("<metric> [within <within>] [with confidence <confidence>]")
class MeasureItem(Node):
    """A metric to report, ``discrimination_rate within 0.1% with confidence 99%`` with the precision asked for."""

    metric: Name | Influence | Call | OfModel
    within: Number | None
    confidence: Number | None


@node("measure <items>", example="measure fair_share")
class MeasureClause(Node):
    """``measure fair_share, discrimination_rate``."""

    items: tuple[MeasureItem, ...]


Clause = (
    ForEachClause
    | CompareClause
    | AcrossClause
    | ModelReference
    | DifferClause
    | ApartClause
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


@node(
    "apply preset <preset> to <model> <across> <under>",
    example="apply preset four_fifths to approve across sex under cohort",
)
class Apply(Node):
    """``apply preset ll144 to approve across sex, race under cohort``: properties that ship with the language."""

    preset: Name
    model: Name
    across: AcrossClause
    under: UnderClause


@node("property <name> [<sentence>]", body="clauses", example="property my_name { ... }")
class Property(Node):
    """``property NAME "sentence" { clauses }``."""

    doc: tuple[str, ...]
    name: Name
    sentence: Text | None
    clauses: tuple[Clause, ...]
