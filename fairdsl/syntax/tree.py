"""The syntax tree: what the text says, before any name is resolved.

Every node is frozen and carries the span it was read from; spans never take part in comparisons, so
that ``parse(format(tree)) == tree``. Numbers are exact fractions and keep the way they were written.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from enum import Enum
from fractions import Fraction
from typing import TypeVar, dataclass_transform

from fairdsl.source import Span

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def node(cls: type[T]) -> type[T]:
    """A dataclass that takes equality, representation and immutability from :class:`Node`.

    Generating them anew for each of the seventy classes would be a third of the time of ``fairdsl fmt``.
    """
    return dataclass(slots=True, kw_only=True, eq=False, repr=False)(cls)


@node
class Node:
    """What all nodes share: the place in the text, and equality by class and content."""

    span: Span = field(compare=False, repr=False)

    def _content(self) -> tuple[object, ...]:
        return tuple(getattr(self, entry.name) for entry in fields(self) if entry.compare)

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, Node) and type(other) is type(self) else False

    def __setattr__(self, name: str, value: object) -> None:
        """Each field is written once, by the constructor."""
        if hasattr(self, name):
            raise FrozenInstanceError(f"cannot assign to `{name}`")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete `{name}`")

    def __hash__(self) -> int:
        return hash((type(self), self._content()))

    def __repr__(self) -> str:
        shown = (f"{entry.name}={getattr(self, entry.name)!r}" for entry in fields(self) if entry.repr)
        return f"{type(self).__name__}({', '.join(shown)})"


# ---- words -------------------------------------------------------------------------------------


@node
class Name(Node):
    """An identifier, or a quoted name (only values of a category may be quoted)."""

    text: str
    quoted: bool = False


@node
class Number(Node):
    """An exact number; ``0.8`` and ``80%`` are both 4/5. ``text`` keeps sign, digits and percent sign."""

    value: Fraction
    text: str
    percent: bool = False


@node
class Text(Node):
    """A string literal, without its quotes."""

    value: str


# ---- expressions -------------------------------------------------------------------------------


@node
class Reference(Node):
    """``age``, or ``a.age`` where ``owner`` is one of the compared individuals."""

    owner: Name | None
    name: Name


@node
class Call(Node):
    """``approve(a)``, ``score(a)``, ``abs(...)``, ``one_hot(workclass)``, ``confidence(a)``."""

    function: Name
    arguments: tuple[Expression, ...]


@node
class Negative(Node):
    """``- x`` before anything that is not a bare number (``-3`` is a :class:`Number`)."""

    operand: Expression


@node
class Arithmetic(Node):
    """``left operator right`` with operator ``+ - * /``; left-associative as written."""

    operator: str
    left: Expression
    right: Expression

    def _content(self) -> tuple[object, ...]:
        # The whole chain at once: a long sum is too deep on its left side to be compared by recursion.
        chain: list[object] = []
        operand: Expression = self
        while isinstance(operand, Arithmetic):
            chain += (operand.right, operand.operator)
            operand = operand.left
        return (operand, *reversed(chain))


@node
class Comparison(Node):
    """``left relation right`` with relation ``= != < <= > >=``."""

    relation: str
    left: Expression
    right: Expression


@node
class ValueRange(Node):
    """``low .. high``, both ends included: an element of a set, or the right side of ``in``."""

    low: Number
    high: Number


@node
class Membership(Node):
    """``value in { a, b, 3 .. 5 }`` or ``value in 3 .. 5`` (then ``elements`` is one range, unbraced)."""

    value: Expression
    elements: tuple[Name | Number | ValueRange, ...]
    braced: bool


@node
class Negation(Node):
    """``not operand``."""

    operand: Expression


@node
class Conjunction(Node):
    """``p and q and ...`` (two parts at least, none of them an unparenthesised conjunction)."""

    parts: tuple[Expression, ...]


@node
class Disjunction(Node):
    """``p or q or ...``."""

    parts: tuple[Expression, ...]


@node
class Influence(Node):
    """``influence of age, hours on METRIC``; each subset in parentheses is one question."""

    subsets: tuple[tuple[Name, ...], ...]
    metric: Name


Expression = (
    Reference
    | Call
    | Number
    | Text
    | Negative
    | Arithmetic
    | Comparison
    | Membership
    | Negation
    | Conjunction
    | Disjunction
    | Influence
)


# ---- domains -----------------------------------------------------------------------------------


@node
class CategoryEntry(Node):
    """One value of a category, with the code that the model reads for it where one is written."""

    name: Name
    code: Number | None


@node
class CategoryType(Node):
    """``category { none, below_200 = 4, "above 200" }``."""

    entries: tuple[CategoryEntry, ...]


@node
class IntegerType(Node):
    """``integer 0 .. 80``."""

    low: Number
    high: Number


@node
class RealType(Node):
    """``real 0 .. 1``, or ``real`` alone: unbounded."""

    low: Number | None
    high: Number | None


@node
class BooleanType(Node):
    """``boolean``: false is 0, true is 1."""


Type = CategoryType | IntegerType | RealType | BooleanType


@node
class BinsAt(Node):
    """``bins at 25, 45``."""

    edges: tuple[Number, ...]


@node
class BinsByQuantiles(Node):
    """``bins by quantiles 4``."""

    count: Number


@node
class BinsByModel(Node):
    """``bins by model``: the thresholds that the model itself uses."""


Bins = BinsAt | BinsByQuantiles | BinsByModel


@node
class Attribute(Node):
    """``name : type [column "header"] [bins ...]``."""

    doc: tuple[str, ...]
    name: Name
    type: Type
    column: Text | None
    bins: Bins | None


@node
class Where(Node):
    """``where EXPRESSION`` inside a domain: who can exist."""

    condition: Expression


@node
class Domain(Node):
    """``domain NAME { attributes and constraints }``; their written order is kept in ``members``."""

    doc: tuple[str, ...]
    name: Name
    members: tuple[Attribute | Where, ...]


@node
class Protected(Node):
    """``protected sex, age``."""

    names: tuple[Name, ...]


@node
class Label(Node):
    """``label reoffended : boolean column "two_year_recid"``: the true outcome, which is no input."""

    doc: tuple[str, ...]
    name: Name
    type: Type
    column: Text | None


# ---- models ------------------------------------------------------------------------------------


@node
class From(Node):
    """``from [format] "path" [sha256 "digest"]``, in models and distributions."""

    format: Name | None
    path: Text
    digest: Text | None


@node
class ScoreFormula(Node):
    """``score = EXPRESSION``: a model written in the spec."""

    formula: Expression


@node
class DecidesWhen(Node):
    """``grant when score > 0``; with no other source of a score it is a rule: ``grant when age >= 30``."""

    outcome: Name
    condition: Expression


@node
class DecidesByHighest(Node):
    """``decide by highest score``."""


@node
class Favourable(Node):
    """``favourable grant``."""

    outcome: Name


@node
class Reads(Node):
    """``reads age, one_hot(workclass), (income - 38.6) / 13.2``."""

    features: tuple[Expression, ...]


ModelClause = From | ScoreFormula | DecidesWhen | DecidesByHighest | Favourable | Reads


@node
class Model(Node):
    """``model approve : Applicant -> { reject, grant } clauses``."""

    doc: tuple[str, ...]
    name: Name
    domain: Name
    outcomes: tuple[Name, ...]
    clauses: tuple[ModelClause, ...]


# ---- populations -------------------------------------------------------------------------------


@node
class Learn(Node):
    """``learn bayesian_network``, or ``learn GRAPH``."""

    structure: Name


@node
class Uniform(Node):
    """``uniform``."""


@node
class Independent(Node):
    """``independent``."""


@node
class Empirical(Node):
    """``empirical from "people.csv"``."""

    source: From


@node
class Setting(Node):
    """``set max_parents = 2``."""

    name: Name
    value: Number | Name | Text


@node
class TableEntry(Node):
    """One row of an explicit law: a value and its probability."""

    value: Name | Number
    probability: Number


@node
class Table(Node):
    """``table { clerk : 0.2, nurse : 80% }``."""

    entries: tuple[TableEntry, ...]


@node
class Family(Node):
    """``bernoulli(0.3)``, ``normal(0.6, 0.1)``, ``uniform(0, 1)``; ``truncated`` may follow."""

    name: Name
    parameters: tuple[Number, ...]
    truncated: bool


@node
class Law(Node):
    """``income : normal(0.6, 0.1) given older = yes``."""

    variable: Name
    law: Table | Family
    given: Expression | None


DistributionClause = Learn | Uniform | Independent | Empirical | From | Setting | Law


@node
class Distribution(Node):
    """``distribution cohort over Defendant, reoffended clauses``."""

    doc: tuple[str, ...]
    name: Name
    over: tuple[Name, ...]
    clauses: tuple[DistributionClause, ...]


@node
class Path(Node):
    """``sex -> department -> admit``."""

    names: tuple[Name, ...]


@node
class Graph(Node):
    """``graph influence { paths }``."""

    doc: tuple[str, ...]
    name: Name
    paths: tuple[Path, ...]


# ---- properties --------------------------------------------------------------------------------


@node
class NamedTarget(Node):
    """``target seniors [over Applicant] = age >= 60``; a property refers to it by its name."""

    doc: tuple[str, ...]
    name: Name
    domain: Name | None
    condition: Expression


@node
class CompareClause(Node):
    """``compare a, b : Applicant``."""

    first: Name
    second: Name
    domain: Name


@node
class AcrossClause(Node):
    """``across race, sex``."""

    names: tuple[Name, ...]


@node
class ModelReference(Node):
    """``model screen`` inside a property: which model it is about, where there are several."""

    name: Name


class DifferMode(Enum):
    """How several protected attributes differ."""

    ANY = "any"
    ALL = "all"


@node
class DifferClause(Node):
    """``differ in any sex, age``; the mode may be left out for one name."""

    mode: DifferMode | None
    names: tuple[Name, ...]


@node
class RelaxClause(Node):
    """``relax age by 5`` or, without a bound, ``relax job freely``."""

    name: Name
    by: Number | None


@node
class TargetClause(Node):
    """``target EXPRESSION``; several of them mean `and`."""

    condition: Expression


@node
class WhenClause(Node):
    """``when confidence(a) >= 0.9``."""

    condition: Expression


@node
class UnderClause(Node):
    """``under cohort``."""

    distribution: Name


@node
class GivenClause(Node):
    """``given EXPRESSION`` (or a bare attribute: one metric per value)."""

    condition: Expression


@node
class ExcludingClause(Node):
    """``excluding groups below 30 rows``, or ``of probability 0`` (then ``rows`` is None)."""

    rows: Number | None


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
    """``require DEMAND [with confidence 95%]``."""

    demand: Expression | SameDecision
    confidence: Number | None


@node
class MeasureItem(Node):
    """A metric to report, ``discrimination_rate within 0.1%`` with the precision asked for."""

    metric: Name | Influence
    within: Number | None


@node
class MeasureClause(Node):
    """``measure fair_share, discrimination_rate``."""

    items: tuple[MeasureItem, ...]


Clause = (
    CompareClause
    | AcrossClause
    | ModelReference
    | DifferClause
    | RelaxClause
    | TargetClause
    | WhenClause
    | UnderClause
    | GivenClause
    | ExcludingClause
    | AllowClause
    | BaselineClause
    | PrivilegedClause
    | RequireClause
    | MeasureClause
)


@node
class Property(Node):
    """``property NAME "sentence" { clauses }``."""

    doc: tuple[str, ...]
    name: Name
    sentence: Text | None
    clauses: tuple[Clause, ...]


# ---- the whole file ----------------------------------------------------------------------------


@node
class Version(Node):
    """``fair 1``: the version of the language."""

    number: Number


@node
class Audit(Node):
    """``audit "title"`` with the document's own text before it."""

    doc: tuple[str, ...]
    title: Text


@node
class Use(Node):
    """``use "german.fair"``."""

    path: Text


Item = Use | Domain | Protected | Label | Model | Distribution | Graph | NamedTarget | Property


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """``# text`` as written; ``own_line`` says that nothing but white space stands before it."""

    text: str
    span: Span = field(compare=False, repr=False)
    own_line: bool


@node
class Spec(Node):
    """A whole file. Comments are no part of its meaning, so they take no part in comparisons."""

    version: Version | None
    audit: Audit | None
    items: tuple[Item, ...]
    comments: tuple[Comment, ...] = field(compare=False, default=())
