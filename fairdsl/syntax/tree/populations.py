"""Distributions and causal graphs."""

from __future__ import annotations

from fairdsl.syntax.tree.declarations import From
from fairdsl.syntax.tree.expressions import Expression
from fairdsl.syntax.tree.node import Name, Node, Number, Text, node


@node("learn <structure>", example="learn bayesian_network")
class Learn(Node):
    """``learn bayesian_network``, or ``learn GRAPH``."""

    structure: Name


@node("uniform")
class Uniform(Node):
    """``uniform``."""


@node("independent [given <given>]")
class Independent(Node):
    """``independent``, or ``independent given race, sex``: within each of those groups."""

    given: tuple[Name, ...]


@node("empirical <source>", example='empirical from "people.csv"')
class Empirical(Node):
    """``empirical from "people.csv"``."""

    source: From


@node("set <name> = <value>", example="set seed = 7")
class Setting(Node):
    """``set max_parents = 2``."""

    name: Name
    value: Number | Name | Text


@node("<value> : <probability>")
class TableEntry(Node):
    """One row of an explicit distribution: a value and its probability."""

    value: Name | Number
    probability: Number


@node("table { <entries> }")
class Table(Node):
    """``table { clerk : 0.2, nurse : 80% }``."""

    entries: tuple[TableEntry, ...]


@node("<name>(<parameters>) [?truncated truncated]")
class Family(Node):
    """``bernoulli(0.3)``, ``normal(0.6, 0.1)``, ``uniform(0, 1)``; ``truncated`` may follow."""

    name: Name
    parameters: tuple[Number, ...]
    truncated: bool


@node("<variable> : <shape> [given <given>]")
class ColumnDistribution(Node):
    """``income : normal(0.6, 0.1) given older = yes``."""

    variable: Name
    shape: Table | Family
    given: Expression | None


DistributionClause = Learn | Uniform | Independent | Empirical | From | Setting | ColumnDistribution


@node("distribution <name> over <over>", body="clauses", example="distribution cohort over Applicant")
class Distribution(Node):
    """``distribution cohort over Defendant, reoffended clauses``."""

    doc: tuple[str, ...]
    name: Name
    over: tuple[Name, ...]
    clauses: tuple[DistributionClause, ...]


@node("<names ->>")
class Path(Node):
    """``sex -> department -> admit``."""

    names: tuple[Name, ...]


@node("graph <name>", body="paths", example="graph influence { ... }")
class Graph(Node):
    """``graph influence { paths }``."""

    doc: tuple[str, ...]
    name: Name
    paths: tuple[Path, ...]
