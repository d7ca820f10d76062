"""Domains, labels and models: what is declared of people and of the model."""

from __future__ import annotations

from fairdsl.syntax.tree.expressions import Expression
from fairdsl.syntax.tree.node import Name, Node, Number, Text, node


@node("<name> [= <code>]")
class CategoryEntry(Node):
    """One value of a category, with the code that the model reads for it where one is written."""

    name: Name
    code: Number | None


@node("category { <entries> }")
class CategoryType(Node):
    """``category { none, below_200 = 4, "above 200" }``."""

    entries: tuple[CategoryEntry, ...]


@node("integer <low> .. <high>")
class IntegerType(Node):
    """``integer 0 .. 80``."""

    low: Number
    high: Number


@node("real [<low> .. <high>]")
class RealType(Node):
    """``real 0 .. 1``, or ``real`` alone: unbounded."""

    low: Number | None
    high: Number | None


@node("boolean")
class BooleanType(Node):
    """``boolean``: false is 0, true is 1."""


Type = CategoryType | IntegerType | RealType | BooleanType


@node("at <edges>")
class BinsAt(Node):
    """``bins at 25, 45``."""

    edges: tuple[Number, ...]


@node("by quantiles <count>")
class BinsByQuantiles(Node):
    """``bins by quantiles 4``."""

    count: Number


@node("by model")
class BinsByModel(Node):
    """``bins by model``: the thresholds that the model itself uses."""


Bins = BinsAt | BinsByQuantiles | BinsByModel


@node("<name> : <type> [?or_missing or missing] [column <column>] [?as_stored as_stored] [bins <bins>]")
class Attribute(Node):
    """``name : type [or missing] [column "header" [as_stored]] [bins ...]``."""

    doc: tuple[str, ...]
    name: Name
    type: Type
    or_missing: bool
    column: Text | None
    as_stored: bool
    bins: Bins | None


@node("where <condition>", example="where age >= 18")
class Where(Node):
    """``where EXPRESSION`` inside a domain: who can exist."""

    condition: Expression


@node("bins of <of> <bins>")
class BinsOf(Node):
    """``bins of score at 20, 40``: the ranges of a sum, or of the model's score, that people are told apart by."""

    of: Expression
    bins: BinsAt | BinsByQuantiles


@node("derived <name> = <definition>", example="derived senior = age >= 62")
class Derived(Node):
    """``derived senior = age >= 62`` inside a domain: what follows from attributes, or from the model's score."""

    doc: tuple[str, ...]
    name: Name
    definition: Expression | BinsOf


@node("domain <name>", body="members", example="domain Applicant { ... }")
class Domain(Node):
    """``domain NAME { attributes and constraints }``; their written order is kept in ``members``."""

    doc: tuple[str, ...]
    name: Name
    members: tuple[Attribute | Where | Derived, ...]


@node("protected <names>", example="protected sex, age")
class Protected(Node):
    """``protected sex, age``."""

    names: tuple[Name, ...]


@node("label <name> : <type> [column <column>] [deserving <deserving>]", example="label reoffended : boolean")
class Label(Node):
    """``label reoffended : boolean column "two_year_recid" deserving no``: the true outcome, which is not an input.

    ``deserving`` is the value of those who deserve the favourable outcome.
    """

    doc: tuple[str, ...]
    name: Name
    type: Type
    column: Text | None
    deserving: Name | Number | None


@node("from [<format>] <path> [sha256 <digest>]", example='from "models/approve.onnx"')
class From(Node):
    """``from [format] "path" [sha256 "digest"]``, in models and distributions."""

    format: Name | None
    path: Text
    digest: Text | None


@node("from callable")
class FromCallable(Node):
    """``from callable``: a Python function, which the caller of the API gives."""


@node("score = <formula>", example="score = 2 * income - 3")
class ScoreFormula(Node):
    """``score = EXPRESSION``: a model written in the spec."""

    formula: Expression


@node("<outcome> when <condition>")
class DecidesWhen(Node):
    """``grant when score > 0``; with no other source of a score it is a rule: ``grant when age >= 30``."""

    outcome: Name
    condition: Expression


@node("decide by highest score", example="decide by highest score")
class DecidesByHighest(Node):
    """``decide by highest score``."""


@node(
    "[?begins first][!begins then] <outcome> when <condition>",
    example="first reject when age < 18\nthen grant when income > 30",
)
class Rule(Node):
    """``first detain when priors > 3``, or one that follows it: ``then release when age >= 45``."""

    begins: bool
    outcome: Name
    condition: Expression


@node("otherwise <outcome>", example="otherwise reject")
class Otherwise(Node):
    """``otherwise release``: the end of a list of rules."""

    outcome: Name


@node("favourable <outcome>", example="favourable grant")
class Favourable(Node):
    """``favourable grant``."""

    outcome: Name


@node("reads <features>", example="reads age, income")
class Reads(Node):
    """``reads age, one_hot(workclass), (income - 38.6) / 13.2``."""

    features: tuple[Expression, ...]


@node(
    "agrees with column <column> in <path> [sha256 <digest>] [on <share>]",
    example='agrees with column "decision" in "recorded.csv" on 99%',
)
class Agrees(Node):
    """``agrees with column "decision" in "recorded.csv" [sha256 "digest"] [on 99%]``."""

    column: Text
    path: Text
    digest: Text | None
    share: Number | None


ModelClause = (
    From | FromCallable | ScoreFormula | DecidesWhen | DecidesByHighest | Rule | Otherwise | Favourable | Reads | Agrees
)


@node(
    "model <name> : <domain> -> { [!ordered <outcomes>][?ordered <outcomes <>] }",
    body="clauses",
    example="model approve : Applicant -> { reject, grant }",
)
class Model(Node):
    """``model approve : Applicant -> { reject, grant } clauses``; ``ordered``: its outcomes are written with ``<``."""

    doc: tuple[str, ...]
    name: Name
    domain: Name
    outcomes: tuple[Name, ...]
    ordered: bool
    clauses: tuple[ModelClause, ...]
