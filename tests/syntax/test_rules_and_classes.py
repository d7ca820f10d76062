"""Every rule of the grammar is a class that its place admits, or a field of the class around it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args

import pytest

from fairdsl import semantics
from fairdsl.builder import Groups, Pairs
from fairdsl.source import SourceFile
from fairdsl.syntax import build, tree
from fairdsl.syntax.parse import parse
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
        fields = build._shape(known).fields if known in classes else {}
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


#: Where a clause is written, for whoever left out one of the places.
RULE = (
    "write its rule and its word, and the rule's name in `_clause`, in grammar/fair.lark, then "
    "`pytest --accept tests/syntax/test_tables.py`"
)
CLASS = (
    "write its class, called as the rule, with its form in fairdsl/syntax/tree/properties.py, and name it in `Clause`"
)
CLAUSES = get_args(tree.Clause)
ROOT = Path(__file__).parents[2]


def test_every_rule_is_a_class_that_is_admitted_or_a_field() -> None:
    omitted = list(_omissions())
    assert not omitted, f"{omitted}; of a clause: {CLASS}"


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
    build._shape.cache_clear()
    omitted = list(_omissions())
    build._shape.cache_clear()
    assert omitted == ["`property` reads `regardless`, which no field of it admits"]


def test_every_clause_has_a_rule() -> None:
    read = {build._classes()[name] for name in _contents()["property"] & build._classes().keys()}
    unread = [kind.__name__ for kind in CLAUSES if kind not in read]
    assert not unread, f"{unread}: no property reads it; {RULE}"


def test_every_clause_means_something() -> None:
    """One that no module of the semantics names would be read and ignored."""
    folder = Path(semantics.__file__).parent
    named = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    unread = [kind.__name__ for kind in CLAUSES if not re.search(rf"\b{kind.__name__}\b", named)]
    assert not unread, f"{unread}: read and ignored; check it in `properties.py`, `groups.py` or `pairs.py` there"


def _words(kind: type[tree.Node]) -> str:
    """The words that a clause begins with, before anything that is filled in."""
    return kind.FORM.text.partition("<")[0].partition("[")[0].strip()


@pytest.mark.parametrize("kind", CLAUSES)
def test_every_clause_has_an_example_that_is_one(kind: type[tree.Node]) -> None:
    """Which help on a line that is not complete shows."""
    example = kind.FORM.example
    assert example, f"{kind.__name__}: write an `example=` in its form in fairdsl/syntax/tree/properties.py"
    spec = parse(SourceFile("x.fair", f"fair 1\n\nproperty p {{\n  {example}\n}}\n")).spec
    assert spec is not None
    [item] = spec.items
    assert isinstance(item, tree.Property)
    assert [type(clause) for clause in item.clauses] == [kind]


def test_every_clause_is_a_row_of_the_language() -> None:
    """As many rows begin with its words as there are clauses that do: `for each` is two."""
    page = (ROOT / "docs" / "language.md").read_text("utf-8")
    table = page.partition("\n### Lines of a property\n")[2].partition("\n### ")[0]
    rows = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| ")]
    for words, count in Counter(map(_words, CLAUSES)).items():
        found = sum(bool(re.search(rf"`{words}\b", row)) for row in rows)
        assert found >= count, f"docs/language.md, `Lines of a property`: no row begins with `{words} ...`"


def test_every_clause_is_defined_in_the_semantics() -> None:
    page = (ROOT / "docs" / "semantics.md").read_text("utf-8")
    undefined = [words for words in map(_words, CLAUSES) if not re.search(rf"`{words}\b", page)]
    assert not undefined, f"docs/semantics.md says nowhere, in back-ticks, what {undefined} means"


#: Clauses that have no field in `fairdsl.builder`, and why: they are written as text, in `clauses`.
AS_TEXT = {
    tree.ForEachClause: "properties of its values are written one by one, by a loop in Python",
    tree.OtherwiseEqualClause: "says what is so without it",
    tree.WhenClause: "a condition, as the language writes it",
    tree.AllowClause: "a path, as the language writes it",
    tree.BaselineClause: "of paths",
}


def test_every_clause_can_be_built() -> None:
    texts: dict[str, Any] = {"require": "same decision", "measure": "fair_share", "among": "age >= 18"}
    both: dict[str, Any] = {"name": "p", "under": "cohort", "model": "approve", **texts}
    pairs = Pairs(**both, domain="Person", differ="sex", within={"age": 5}, regardless_of="job")
    groups = Groups(**both, across="sex", for_each="age", excluding_below=30, privileged="sex = male")
    spec = parse(SourceFile("x.fair", "\n".join(("fair 1", *pairs.lines(), *groups.lines(), "")))).spec
    assert spec is not None
    built = {type(clause) for item in spec.items if isinstance(item, tree.Property) for clause in item.clauses}
    assert not built & AS_TEXT.keys()
    missing = [kind.__name__ for kind in CLAUSES if kind not in built | AS_TEXT.keys()]
    assert not missing, (
        f"{missing}: a field of Pairs or Groups in fairdsl/builder/properties.py, or a reason in AS_TEXT"
    )
