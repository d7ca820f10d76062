"""Every rule of the grammar is a class that its place admits, or a field of the class around it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args

import pytest

from fairdsl import semantics
from fairdsl.syntax import build, tree
from fairdsl.syntax.tables import grammar
from fairdsl.syntax.tree import properties
from fairdsl.syntax.words import CHAINED

#: What the builder makes of rules that are not classes, and of the tokens that something is made of.
MADE: dict[str, tuple[type, ...]] = {
    "literal": (tree.Number,),
    "number": (tree.Number,),
    "named_number": (tree.NamedNumber,),
    "named_limit": (tree.NamedNumber,),
    "negative": (tree.Number, tree.Negative),
    "parenthesised": get_args(tree.Expression),
    "subset": (tuple,),
    "text": (tree.Text,),
    "STRING": (tree.Text, tree.Name),
    **dict.fromkeys(CHAINED, (tree.Arithmetic,)),
    **dict.fromkeys(build._WORDS - {"STRING"}, (tree.Name,)),
}
#: Rules that the builder does not make by the fields of a class.
WITHOUT = {"lone_condition", *MADE}


def _contents() -> dict[str, set[str]]:
    """What stands directly in each rule; rules with an underscore are a part of those that name them."""
    written: dict[str, set[str]] = defaultdict(set)
    called: dict[str, set[str]] = defaultdict(set)
    for rule in grammar().rules:
        origin = str(rule.origin.name)
        name = str(rule.alias or origin)
        called[origin].add(name)
        written[name] |= {str(symbol.name) for symbol in rule.expansion}

    def shown(names: set[str], passed: frozenset[str] = frozenset()) -> Iterator[str]:
        for name in names - passed:
            if name.startswith("_"):
                yield from shown(written[name], passed | {name})
            else:
                yield from called.get(name, {name})

    return {name: set(shown(names)) for name, names in written.items() if not name.startswith("_")}


def _omissions() -> Iterator[str]:
    contents, classes = _contents(), build._classes()
    parts = set()
    for rule in sorted(contents.keys() - WITHOUT):
        known = "spec" if rule == "start" else rule
        fields = build._fields(known) if known in classes else {}
        for name in sorted(contents[rule] if fields else ()):
            if name in classes or name in MADE:
                kinds = {kind for field in fields.values() for kind in field.kinds}
                yield from _unless_admitted(rule, name, kinds)
            elif name in fields:
                parts.add(name)
                for value in sorted(contents[name]):
                    yield from _unless_admitted(name, value, set(fields[name].kinds) - {bool, str})
            elif name.islower():
                yield f"`{rule}` reads `{name}`, which is neither a class nor a field of it"
    nowhere = contents.keys() - classes.keys() - parts - WITHOUT - {"start"}
    yield from (f"`{rule}` has no class" for rule in sorted(nowhere))


def _unless_admitted(rule: str, name: str, kinds: set[Any]) -> Iterator[str]:
    made = MADE.get(name) or ((build._classes()[name],) if name in build._classes() else ())
    classes = tuple(kind for kind in kinds if not issubclass(kind, Enum))
    if made and not any(issubclass(each, classes) for each in made):
        yield f"`{rule}` reads `{name}`, which no field of it admits"


def test_every_rule_is_a_class_that_is_admitted_or_a_field() -> None:
    assert list(_omissions()) == []


def test_a_class_left_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = {rule: kind for rule, kind in build._classes().items() if rule != "regardless"}
    monkeypatch.setattr(build, "_classes", lambda: classes)
    assert list(_omissions()) == [
        "`property` reads `regardless`, which is neither a class nor a field of it",
        "`regardless` has no class",
    ]


def test_a_class_left_out_of_its_union_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(kind for kind in get_args(properties.Clause) if kind is not properties.RegardlessClause)
    monkeypatch.setattr(properties, "Clause", Union[others])  # noqa: UP007 (the operator takes no tuple)
    build._fields.cache_clear()
    omitted = list(_omissions())
    build._fields.cache_clear()
    assert omitted == ["`property` reads `regardless`, which no field of it admits"]


def test_every_clause_has_a_rule() -> None:
    read = {build._classes()[name] for name in _contents()["property"] & build._classes().keys()}
    assert set(get_args(tree.Clause)) <= read


def test_every_clause_means_something() -> None:
    """One that no module of the semantics names would be read and ignored."""
    folder = Path(semantics.__file__).parent
    named = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    unread = [kind.__name__ for kind in get_args(tree.Clause) if not re.search(rf"\b{kind.__name__}\b", named)]
    assert unread == []
