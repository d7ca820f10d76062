"""The whole file."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairdsl.source import Span
from fairdsl.syntax.tree.declarations import Domain, Label, Model, Protected
from fairdsl.syntax.tree.node import Name, Node, Number, Text, node
from fairdsl.syntax.tree.populations import Distribution, Graph
from fairdsl.syntax.tree.properties import Apply, Metric, NamedCondition, Property


@node("fair <number>")
class Version(Node):
    """``fair 1``: the version of the language."""

    number: Number


@node("audit <title>", example='audit "Small loans, 2024"')
class Audit(Node):
    """``audit "title"`` with the document's own text before it."""

    doc: tuple[str, ...]
    title: Text


@node("use <path>", example='use "german.fair"')
class Use(Node):
    """``use "german.fair"``."""

    path: Text


@node("let <name> = <number>", example="let limit = 80%")
class Parameter(Node):
    """``let limit = 80%``: a number by name."""

    doc: tuple[str, ...]
    name: Name
    number: Number


Item = (
    Use
    | Parameter
    | Domain
    | Protected
    | Label
    | Model
    | Distribution
    | Graph
    | NamedCondition
    | Metric
    | Property
    | Apply
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """``# text`` as written; ``own_line`` says that nothing but white space stands before it."""

    text: str
    span: Span = field(compare=False, repr=False)
    own_line: bool


@node()
class Spec(Node):
    """A whole file. Comments are not a part of its meaning, so they take no part in comparisons."""

    version: Version | None
    audit: Audit | None
    items: tuple[Item, ...]
    comments: tuple[Comment, ...] = field(compare=False, default=())
