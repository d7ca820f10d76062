"""Which name means which declaration, over a spec and all that it uses.

The tree of a text with mistakes is that of what could be read, so a name in a statement that was lost is not known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fairdsl.lsp.roles import ROLES, Kind, Role
from fairdsl.syntax import tree


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A name where it is declared, with the node that declares it. ``within`` is whose value or outcome it is."""

    kind: Kind
    name: tree.Name
    node: tree.Node
    within: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands around a name: whose outcomes and values are meant, and which property it is in."""

    property: tree.Property | None = None
    #: The attribute, label or model that the name is compared with, or whose clause it stands in.
    beside: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """A name somewhere in a tree, what a name there can be, and the node that holds it."""

    name: tree.Name
    role: Role
    node: tree.Node
    setting: Setting


@dataclass(slots=True)
class Names:
    """All that some trees declare, by kind and name; of what is declared twice the first."""

    declared: list[Declared] = field(default_factory=list)
    _global: dict[tuple[Kind, str, str], Declared] = field(default_factory=dict)
    _local: dict[tuple[int, Kind, str], Declared] = field(default_factory=dict)

    @classmethod
    def of(cls, specs: Iterable[tree.Spec]) -> Names:
        """The declarations of these trees."""
        names = cls()
        for spec in specs:
            for mention in mentions_in(spec):
                if mention.role.declares is not None:
                    names._add(mention, mention.role.declares)
        return names

    def _add(self, mention: Mention, kind: Kind) -> None:
        within = mention.setting.beside if kind in (Kind.VALUE, Kind.OUTCOME) else ""
        one = Declared(kind, mention.name, mention.node, within)
        self.declared.append(one)
        inside = mention.setting.property
        if kind in (Kind.INDIVIDUAL, Kind.VARIABLE) and inside is not None:
            self._local.setdefault((inside.span.start, kind, mention.name.text), one)
            return
        self._global.setdefault((kind, within, mention.name.text), one)
        if within:
            self._global.setdefault((kind, "", mention.name.text), one)

    def meant_by(self, mention: Mention) -> Declared | None:
        """The declaration that a name means; None where it means none, or a word of the language."""
        role, setting, text = mention.role, mention.setting, mention.name.text
        if role.declares is not None:
            return self._found(role.declares, setting, text, mine=True)
        kinds = role.kinds
        if role.beside and setting.beside:
            beside = (self._found(kind, setting, text, mine=True) for kind in (Kind.VALUE, Kind.OUTCOME))
            first = None if Kind.VARIABLE not in kinds else self._found(Kind.VARIABLE, setting, text)
            chosen = first or next((each for each in beside if each is not None), None)
            if chosen is not None:
                return chosen
        found = (self._found(kind, setting, text) for kind in kinds)
        return next((each for each in found if each is not None), None)

    def _found(self, kind: Kind, setting: Setting, text: str, *, mine: bool = False) -> Declared | None:
        if kind in (Kind.INDIVIDUAL, Kind.VARIABLE):
            inside = setting.property
            return None if inside is None else self._local.get((inside.span.start, kind, text))
        within = setting.beside if mine and kind in (Kind.VALUE, Kind.OUTCOME) else ""
        return self._global.get((kind, within, text))

    def offered(self, mention: Mention) -> Iterator[Declared]:
        """The declarations that may be named where ``mention`` stands, the likeliest kinds first, each name once."""
        role, setting, seen = mention.role, mention.setting, set[str]()
        if role.beside and setting.beside:
            for one in self.declared:
                if one.within == setting.beside and one.name.text not in seen:
                    seen.add(one.name.text)
                    yield one
        for kind in role.kinds:
            for one in self.declared:
                if one.kind is not kind or one.name.text in seen:
                    continue
                if kind in (Kind.INDIVIDUAL, Kind.VARIABLE) and self._found(kind, setting, one.name.text) is not one:
                    continue
                seen.add(one.name.text)
                yield one


def mentions_in(spec: tree.Spec) -> Iterator[Mention]:
    """Every name in a tree."""
    yield from _within(spec, Setting())


def _within(node: tree.Node, setting: Setting) -> Iterator[Mention]:
    """A long sum is a tree as deep as it is long, so there is a stack and no recursion."""
    stack: list[tuple[tree.Node, Setting]] = [(node, setting)]
    while stack:
        one, around = stack.pop()
        around = _entered(one, around)
        below: list[tuple[tree.Node, Setting]] = []
        for name, value in _fields(one):
            role = ROLES.get((type(one), name))
            for part in _parts(value):
                if isinstance(part, tree.Name):
                    assert role is not None, (type(one), name)
                    yield Mention(part, role, one, around)
                else:
                    below.append((part, _beside(one, name, around)))
        stack += reversed(below)


def _entered(node: tree.Node, around: Setting) -> Setting:
    """What stands around the names below a node."""
    match node:
        case tree.Property():
            return Setting(property=node)
        case (
            tree.Attribute(name=name)
            | tree.Label(name=name)
            | tree.Model(name=name)
            | tree.ColumnDistribution(variable=name)
        ):
            return dataclasses.replace(around, beside=name.text)
        case tree.Membership(value=value):
            return dataclasses.replace(around, beside=_subject(value))
    return around


def _beside(node: tree.Node, name: str, around: Setting) -> Setting:
    """What stands around the part in a field: of a comparison its other side, of a declaration's own parts itself."""
    match node:
        case tree.Comparison(left=left, right=right):
            return dataclasses.replace(around, beside=_subject(right if name == "left" else left))
        case tree.Table() | tree.CategoryType():
            return around
        case tree.Attribute() | tree.Label() | tree.ColumnDistribution() | tree.Model() if name in _OWN:
            return around
    return around if not around.beside else dataclasses.replace(around, beside="")


#: The fields of each class below which names may hang.
_FIELDS: dict[type[tree.Node], tuple[str, ...]] = {}
#: The fields of declarations below which their own values and outcomes are named.
_OWN = frozenset({"type", "clauses", "shape"})


def _subject(side: tree.Node) -> str:
    """The attribute, label or model that one side of a comparison names; nothing where it is more than that."""
    match side:
        case tree.Reference(name=name) | tree.Call(function=name):
            return name.text
    return ""


def _fields(node: tree.Node) -> Iterator[tuple[str, object]]:
    kind = type(node)
    if kind not in _FIELDS:
        fields = (entry.name for entry in dataclasses.fields(kind))
        _FIELDS[kind] = tuple(name for name in fields if name not in ("span", "doc", "comments"))
    return ((name, getattr(node, name)) for name in _FIELDS[kind])


def _parts(value: object) -> Iterator[tree.Node]:
    """The nodes that a field holds."""
    if isinstance(value, tree.Node):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
