"""``apply preset ll144 to approve across sex, race under cohort``: the properties of the preset, of this model.

They stand where the line does: a finding about one of them, and an annotation in a build, is at ``apply``, or at the
name in that line that it is about.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import says_unknown
from fairdsl.ir.preset import FromPreset
from fairdsl.prelude.presets import GROUPS, MODEL, PEOPLE, POPULATION, preset_names, read_preset
from fairdsl.semantics import errors
from fairdsl.semantics.putting import Putting, Value
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of

#: Attributes whose intersections are gone through: 6 have 63.
_MOST = 6


def applied(
    line: tree.Apply, items: Sequence[tree.Item], reporter: Reporter
) -> Iterator[tuple[tree.Property, FromPreset]]:
    """The properties of the preset with the names of the line in their places; nothing after a finding."""
    models = {item.name.text: item for item in items if isinstance(item, tree.Model)}
    if line.preset.text not in (known := preset_names()):
        reporter.report(errors.unknown_declaration("preset", line.preset.text, line.preset.span, known))
    elif line.model.text not in models:
        reporter.report(errors.unknown_declaration("model", line.model.text, line.model.span, models))
    elif len(line.across.names) > _MOST:
        title = f"a preset goes through every intersection, of at most {_MOST} attributes"
        place = line.across.names[_MOST].span
        reporter.report(errors.number_out_of_place(title, place, "apply it once for each set of attributes"))
    elif line.under.given is not None:
        why = "a preset is about groups, and `given` says who is drawn of those who are compared"
        place = line.under.given.span
        reporter.report(errors.clause_out_of_place("given", place, why, "apply it under the distribution alone"))
    else:
        putting = _Applied(line, models[line.model.text].domain, _attributes(items), _told_apart(line, items))
        for item in read_preset(line.preset.text).items:
            assert isinstance(item, tree.Property), "a preset is made of properties"
            origin = FromPreset(preset=line.preset.text, property=item.name.text)
            yield from ((made, origin) for made in putting.properties(item))


def _told_apart(line: tree.Apply, items: Iterable[tree.Item]) -> str:
    """What names of properties end in where the preset is applied to several models or under several populations."""
    others = [item for item in items if isinstance(item, tree.Apply) and item.preset == line.preset]
    model, population = line.model, line.under.distribution
    ends = [model] if any(other.model != model for other in others) else []
    ends += [population] if any(other.under.distribution != population for other in others) else []
    return "".join(f"_{name.text}" for name in ends)


def _attributes(items: Iterable[tree.Item]) -> dict[str, tree.Attribute]:
    members = (member for item in items if isinstance(item, tree.Domain) for member in item.members)
    return {member.name.text: member for member in members if isinstance(member, tree.Attribute)}


@dataclass(frozen=True, slots=True)
class _Applied:
    """Puts one line's names into the properties of its preset."""

    line: tree.Apply
    people: tree.Name
    attributes: Mapping[str, tree.Attribute]
    told_apart: str

    def properties(self, node: tree.Property) -> Iterator[tree.Property]:
        """The property; of one with `for each G in GROUPS` one for each attribute and each intersection."""
        names = self.line.across.names
        each = next((clause for clause in node.clauses if isinstance(clause, tree.ForEachClause)), None)
        if each is None:
            yield self._property(node, "", {GROUPS: self._set(names)})
            return
        rest = replace(node, clauses=tuple(clause for clause in node.clauses if clause is not each))
        for size in range(1, len(names) + 1):
            for some in combinations(names, size):
                groups = self._set(some)
                of = text_of(groups if size > 1 else some[0])
                yield self._property(rest, f"[{of}]", {each.variable.text: groups})

    def _set(self, names: Sequence[tree.Name]) -> tree.NameSet:
        return tree.NameSet(names=tuple(names), span=self.line.across.span)

    def _property(self, node: tree.Property, behind: str, groups: Mapping[str, tree.NameSet]) -> tree.Property:
        bound: dict[str, Value] = {
            **groups,
            MODEL: self.line.model,
            PEOPLE: self.people,
            POPULATION: self.line.under.distribution,
        }
        (across,) = groups.values()
        clauses = [one for clause in node.clauses for one in self._clauses(clause, across.names)]
        put: tree.Property = Putting(bound, {}, Reporter(), {}).of(replace(node, clauses=tuple(clauses)))
        name = f"{self.line.preset.text}_{node.name.text}{self.told_apart}{behind}"
        placed: tree.Property = self._at_the_line(put)
        return replace(placed, name=replace(put.name, text=name, span=self.line.span))

    def _clauses(self, clause: tree.Clause, across: Sequence[tree.Name]) -> Iterator[tree.Clause]:
        """The clause; `among known` is a condition for each attribute that somebody may be unknown in."""
        match clause:
            case tree.AmongClause(condition=tree.Reference(owner=None, name=tree.Name(text="known"))):
                for name in across:
                    if (attribute := self.attributes.get(name.text)) is not None:
                        yield from (replace(clause, condition=each) for each in _known(name, attribute, clause.span))
            # Behind one name nobody writes how several of them differ.
            case tree.DifferClause() if len(across) > 1:
                yield replace(clause, mode=tree.DifferMode.ANY)
            case _:
                yield clause

    def _at_the_line(self, node: Any) -> Any:
        """The node, and all below it, where the line is; a name that stands in the line, where it stands."""
        match node:
            case tuple():
                return tuple(map(self._at_the_line, node))
            case tree.Node():
                below = {each.name: self._at_the_line(getattr(node, each.name)) for each in dataclasses.fields(node)}
                written = (*self.line.across.names, self.line.under.distribution)
                named = (name.span for name in written if isinstance(node, tree.Name) and name.text == node.text)
                return replace(node, **{**below, "span": next(named, self.line.span)})
        return node


def _known(name: tree.Name, attribute: tree.Attribute, span: Span) -> Iterator[tree.Expression]:
    """What is true of whoever has a value, and none that says that nobody knows it."""
    written = tree.Reference(owner=None, name=name, span=span)
    if attribute.or_missing:
        yield tree.Negation(operand=tree.Absence(value=written, span=span), span=span)
    if isinstance(attribute.type, tree.CategoryType):
        for value in (entry.name for entry in attribute.type.entries if says_unknown(entry.name.text)):
            right = tree.Text(value=value.text, span=span) if value.quoted else replace(written, name=value)
            yield tree.Comparison(left=written, relation="!=", right=right, span=span)
