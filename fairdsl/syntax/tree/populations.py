"""Distributions and causal graphs."""

from __future__ import annotations

from fairdsl.syntax.tree.declarations import From
from fairdsl.syntax.tree.expressions import Expression
from fairdsl.syntax.tree.node import Name, Node, Number, Text, node


@node
class Learn(Node):
    """``learn bayesian_network``, or ``learn GRAPH``."""

    structure: Name


@node
class Uniform(Node):
    """``uniform``."""


@node
class Independent(Node):
    """``independent``, or ``independent given race, sex``: within each of those groups."""

    given: tuple[Name, ...]


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
