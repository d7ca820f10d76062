"""Expressions: conditions, sums and demands."""

from __future__ import annotations

from fairdsl.syntax.tree.node import Name, Node, Number, Text, node


@node("[<owner>.]<name>")
class Reference(Node):
    """``age``, or ``a.age`` where ``owner`` is one of the compared individuals."""

    owner: Name | None
    name: Name


@node("each <name>")
class Each(Node):
    """``each label``: its values are taken one by one."""

    name: Name


@node("[<owner>.]<function>(<arguments>[ given <given>][?along_paths  along allowed paths])")
class Call(Node):
    """``approve(a)``, ``score(a)``, ``new.score(a)``, ``abs(...)``, ``one_hot(workclass)``, ``confidence(a)``.

    Rates have conditions: ``rate(refuse given sick = yes)``, ``rate(favourable given each label)``,
    ``rate(favourable along allowed paths)``.
    """

    function: Name
    arguments: tuple[Expression, ...]
    owner: Name | None = None
    given: Expression | Each | None = None
    along_paths: bool = False


@node("<metric> of <model>")
class OfModel(Node):
    """``impact_ratio of new``: the metric of another model than the property's."""

    metric: Name | Call
    model: Name


@node()
class Negative(Node):
    """``- x`` before anything that is not a bare number (``-3`` is a :class:`Number`)."""

    operand: Expression


@node()
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


@node()
class Comparison(Node):
    """``left relation right`` with relation ``= != < <= > >=``."""

    relation: str
    left: Expression
    right: Expression


@node("<low> .. <high>")
class ValueRange(Node):
    """``low .. high``, both ends included: an element of a set, or the right side of ``in``."""

    low: Number
    high: Number


@node("in [?braced { <elements> }][!braced <elements>]")
class Membership(Node):
    """``value in { a, b, 3 .. 5 }`` or ``value in 3 .. 5`` (then ``elements`` is one range, unbraced)."""

    value: Expression
    elements: tuple[Name | Number | ValueRange, ...]
    braced: bool


@node("is missing")
class Absence(Node):
    """``value is missing``."""

    value: Expression


@node()
class Negation(Node):
    """``not operand``."""

    operand: Expression


@node()
class Conjunction(Node):
    """``p and q and ...`` (two parts at least, none of them an unparenthesised conjunction)."""

    parts: tuple[Expression, ...]


@node()
class Disjunction(Node):
    """``p or q or ...``."""

    parts: tuple[Expression, ...]


@node("<name> in <within>")
class DrawnFrom(Node):
    """``hours in 0 .. 80`` in an influence: the range that the attribute is drawn from."""

    name: Name
    within: ValueRange


@node("influence of <subsets> on <metric>")
class Influence(Node):
    """``influence of age, hours on METRIC``; each subset in parentheses is one question."""

    subsets: tuple[tuple[Name | DrawnFrom, ...], ...]
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
    | Absence
    | Negation
    | Conjunction
    | Disjunction
    | Influence
    | OfModel
)
