"""Values in the places of the names that stand for them: a tree without names of numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fairdsl.diagnostics import Reporter
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

N = TypeVar("N", bound=tree.Node)
#: What represents a name.
Value = tree.Number | tree.Name | tree.NameSet


@dataclass(slots=True)
class Putting:
    """Puts values in the places of their names."""

    bound: Mapping[str, Value]
    parameters: Mapping[str, tree.Parameter]
    reporter: Reporter
    places: dict[Span, tree.Parameter]
    failed: bool = False

    def of(self, node: N) -> N:
        """The node with all names below it that stand for something replaced."""
        changed: dict[str, Any] = {
            entry.name: self._field(node, entry.name)
            for entry in dataclasses.fields(node)
            if entry.name not in _OWN.get(type(node), ("span",))
        }
        return replace(node, **changed)

    def _field(self, node: tree.Node, name: str) -> object:
        value = getattr(node, name)
        if isinstance(value, tuple):
            parts = (self._part(part, node) for part in value)
            return tuple(each for part in parts for each in (part if isinstance(part, tuple) else (part,)))
        put = self._part(value, node)
        if isinstance(put, tuple):
            self._misplaced(value, f"a set of {len(put)} names", "one name")
            return value
        return put

    def _part(self, part: object, parent: tree.Node) -> object:
        match part:
            case tree.NamedNumber():
                return self._number(part)
            case tree.Reference(owner=None, name=tree.Name(text=text)) if text in self.bound:
                return self._reference(part, self.bound[text])
            case tree.Arithmetic():
                return self._chain(part)
            case tree.Name(quoted=False, text=text) if text in self.bound:
                return self._name(part, self.bound[text], parent)
            case tuple():
                return tuple(self._part(each, parent) for each in part)
            case tree.Node():
                return self.of(part)
            case _:
                return part

    def _number(self, node: tree.NamedNumber) -> tree.Number:
        value = self.bound.get(node.name.text)
        if value is None:
            known = tuple(self.parameters)
            declared = f"write a number, in digits, or declare one: `let {node.name.text} = 80%`"
            self.reporter.report(
                errors.unknown_declaration("parameter", node.name.text, node.name.span, known, declared)
            )
            self.failed = True
            return node
        if not isinstance(value, tree.Number):
            self._misplaced(node.name, "a name", "a number")
            return node
        return self._placed(value, node.span, node.name.text, negative=node.text.startswith("-"))

    def _placed(self, value: tree.Number, span: Span, name: str, *, negative: bool = False) -> tree.Number:
        if name in self.parameters:
            self.places[span] = self.parameters[name]
        text, amount = value.text, value.value
        if negative:
            text, amount = text[1:] if text.startswith("-") else f"-{text}", -amount
        return tree.Number(value=amount, text=text, percent=value.percent, span=span)

    def _reference(self, node: tree.Reference, value: Value) -> tree.Expression:
        match value:
            case tree.Number():
                return self._placed(value, node.span, node.name.text)
            case tree.Name(text=text, quoted=True):
                return tree.Text(value=text, span=node.span)
            case tree.Name():
                return replace(node, name=replace(value, span=node.name.span))
            case tree.NameSet(names=(name,)):
                return replace(node, name=replace(name, span=node.name.span))
        self._misplaced(node.name, f"a set of {len(value.names)} names", "one name")
        return node

    def _name(self, node: tree.Name, value: Value, parent: tree.Node) -> object:
        if not isinstance(value, tree.Number):
            names = value.names if isinstance(value, tree.NameSet) else (value,)
            put = tuple(replace(name, span=node.span) for name in names)
            return put[0] if len(put) == 1 else put
        if isinstance(parent, tree.Membership | tree.TableEntry | tree.Setting):
            return self._placed(value, node.span, node.text)
        if node.text not in self.parameters:
            self._misplaced(node, "a number", "a name")
        return node

    def _misplaced(self, name: object, found: str, expected: str) -> None:
        assert isinstance(name, tree.Name), "nothing else represents something"
        help_text = "list values in `for each` that can stand at each of its places"
        self.reporter.report(errors.wrong_kind(f"{found} for `{name.text}`", expected, name.span, help_text))
        self.failed = True

    def _chain(self, node: tree.Arithmetic) -> tree.Expression:
        """A long sum is deep on its left side, which is walked and not recursed into."""
        links: list[tree.Arithmetic] = []
        operand: tree.Expression = node
        while isinstance(operand, tree.Arithmetic):
            links.append(operand)
            operand = operand.left
        put = self._part(operand, node)
        for link in reversed(links):
            put = replace(link, left=put, right=self._part(link.right, link))  # type: ignore[arg-type]
        return put  # type: ignore[return-value]


#: What a node declares, or names of another kind: nothing is put in for it.
_OWN: Mapping[type[tree.Node], tuple[str, ...]] = {
    tree.Property: ("span", "doc", "name", "sentence"),
    tree.NamedCondition: ("span", "doc", "name", "domain"),
    tree.CompareClause: ("span", "names"),
    tree.Reference: ("span", "owner", "name"),
    tree.Model: ("span", "doc", "name", "domain", "outcomes"),
    tree.Attribute: ("span", "doc", "name"),
    tree.Domain: ("span", "doc", "name"),
    tree.Distribution: ("span", "doc", "name", "over"),
    tree.Label: ("span", "doc", "name"),
    tree.Setting: ("span", "name"),
    tree.CategoryEntry: ("span", "name"),
}


def stands_for(part: tree.Node, bound: Mapping[str, Value]) -> bool:
    """Whether a node is the name of something that is put in its place, or of a number that nothing declares."""
    return isinstance(part, tree.NamedNumber) or (isinstance(part, tree.Name) and part.text in bound)
