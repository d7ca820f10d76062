"""Options as they are declared: what is read, what is refused, and that every engine's are found."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

import fairdsl
from fairdsl.backends.contract import Budget
from fairdsl.backends.smt.options import Order, Partition, SmtOptions
from fairdsl.backends.ssat.options import Groups, PbEncoding, SsatOptions
from fairdsl.diagnostics import DiagnosticError
from fairdsl.options import Options, Run, Section, declared, option, options_of, split_settings
from fairdsl.options.commands import COMMANDS
from fairdsl.options.kinds import Kind, OneOf, Seconds, Share, Size, SizeOr, Switch, Text, Whole
from fairdsl.plan.registry import BACKENDS, engine_of, sections
from tests.modules import nodes_of


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Paint(Section):
    """What a test sets."""

    section: ClassVar[str] = "paint"

    coats: int = option(1, "Number of coats.", Whole(1))
    colour: Colour | None = option(None, "Which colour.", OneOf(Colour), unset="what is there")


KNOWN = {"paint": Paint}


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (Switch(), "yes", True),
        (Switch(), False, False),
        (Whole(0), "0", 0),
        (Whole(1), 7, 7),
        (Seconds(), "1.5", 1.5),
        (Seconds(), 2, 2.0),
        (Size(), "1.5GB", 1_500_000_000),
        (Size(), "100M", 100_000_000),
        (Size(), 64 << 20, 64 << 20),
        (Share(), "5%", Fraction(1, 20)),
        (Share(), 0.1, Fraction(1, 10)),
        (Share(), "1/3", Fraction(1, 3)),
        (SizeOr("adaptive", "a number"), "adaptive", "adaptive"),
        (SizeOr("adaptive", "a number"), "3", 3),
        (OneOf(Colour), "red", Colour.RED),
        (OneOf(Colour), Colour.BLUE, Colour.BLUE),
        (Text("FILE", "a path", "x"), "a b", "a b"),
    ],
)
def test_values_are_read_from_text_and_from_python(kind: Kind[Any], value: object, read: object) -> None:
    assert kind.read(value) == read
    assert type(kind.read(value)) is type(read)
    assert kind.read(kind.show(kind.read(value))) == read, "what is shown can be written again"
    kind.read(kind.example)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Switch(), ["maybe", 1, None, ""]),
        (Whole(1), ["0", 0, True, 1.5, "1.5", None]),
        (Seconds(), ["0", -1, "nan", float("inf"), True, "soon"]),
        (Size(), ["1MB", "plenty", 1, True, 2.5e9, "2GiBB"]),
        (Share(above=True, below=True), [0, "100%", 1, "-5%", "5 of 7", "1/0", float("nan"), float("inf"), True]),
        (SizeOr("adaptive", "a number"), ["few", 0, None]),
        (OneOf(Colour), ["green", "RED", 1, None]),
        (Text("FILE", "a path", "x"), ["", None, 3]),
    ],
)
def test_other_values_are_refused(kind: Kind[Any], values: list[object]) -> None:
    for value in values:
        with pytest.raises((ValueError, KeyError, ArithmeticError)):
            kind.read(value)
        with pytest.raises(DiagnosticError, match="takes"):
            _declared(kind).read(value)


def _declared(kind: Kind[Any]) -> Any:
    found = declared(Paint)[0]
    return type(found)(section="paint", name="x", kind=kind, default=1, help="", unset=None, flag=None)


def test_what_is_not_set_has_its_default() -> None:
    options = options_of(Run(seed=3), {"paint": {"coats": "2"}}, KNOWN)
    assert options[Paint] == Paint(coats=2)
    assert options[Paint].given == ("paint.coats",)
    assert Options()[Paint] == Paint()
    assert Budget.of(1.0, Paint(colour=Colour.RED)).options[Paint].colour is Colour.RED
    assert options_of(Run(), {"paint": Paint(coats=2)}, KNOWN)[Paint].coats == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pant": {"coats": 1}}, "did you mean `paint`?"),
        ({"walls": {"coats": 1}}, "did you mean `paint.coats`?"),
        ({"walls": {"seed": 1}}, "write `--seed` on the command line, `seed=` in Python"),
        ({"walls": {"height": 1}}, "the sections are `paint`"),
        ({"": {"coats": 1}}, "`coats` is not an option without its section"),
        ({"paint": {"coat": 1}}, "did you mean `paint.coats`?"),
        ({"paint": {"brush": 1}}, "`paint` has `paint.coats`, `paint.colour`"),
        ({"paint": {"coats": 0}}, "`paint.coats` takes a whole number from 1, not `0`"),
        ({"paint": {"colour": "redd"}}, "did you mean `red`?"),
        ({"paint": SmtOptions()}, "the section `paint` takes a `Paint`, not a `SmtOptions`"),
    ],
)
def test_mistakes_say_what_to_write(given: Any, said: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        options_of(Run(), given, KNOWN)
    assert said in str(caught.value)


def test_all_mistakes_are_said_together() -> None:
    with pytest.raises(DiagnosticError) as caught:
        options_of(Run(), {"paint": {"coats": 0, "colour": "grey"}, "walls": {"height": 1}}, KNOWN)
    assert [finding.code for finding in caught.value.diagnostics] == ["E0661", "E0661", "E0660"]


def test_settings_of_the_command_line() -> None:
    assert split_settings(["a.b=c=d", "a.x=", "y=1"]) == {"a": {"b": "c=d", "x": ""}, "": {"y": "1"}}
    for text, said in [("a.b", "does not set an option"), ("a.=1", "does not set"), ("=1", "does not set")]:
        with pytest.raises(DiagnosticError, match=said):
            split_settings([text])
    with pytest.raises(DiagnosticError, match=r"`a\.b` is set twice"):
        split_settings(["a.b=1", "a.b=2"])


def test_every_section_is_found_by_its_name_and_belongs_to_a_backend() -> None:
    assert {"smt": SmtOptions, "partition": Partition, "ssat": SsatOptions}.items() <= sections().items()
    assert all(engine_of(section) in BACKENDS for section in sections().values())
    for name, (module, *_) in BACKENDS.items():
        assert module.startswith(f"fairdsl.backends.{name}"), "options are looked for in the folder of this name"


def test_every_option_explains_itself() -> None:
    for section in (Run, *sections().values(), *COMMANDS):
        assert section.__doc__
        section()  # its defaults fit each other
        for each in declared(section):
            assert each.help[0].isupper(), each.path
            assert each.help.endswith("."), each.path
            assert each.default is None or each.read(each.kind.show(each.default)) == each.default
            assert each.default is not None or each.unset is not None, "what happens where nothing is set"


def test_typed_sections_take_python_values_and_texts() -> None:
    assert SsatOptions(groups=Groups.LEARN).groups is Groups.LEARN
    assert (
        options_of(Run(), {"ssat": {"pb_encoding": "adder"}}, sections())[SsatOptions].pb_encoding is PbEncoding.ADDER
    )
    assert Partition(size=5, order=Order.GRID).chunk == 5
    assert Partition(size="adaptive").chunk is None


def test_every_option_is_read_by_its_engine() -> None:
    """An option that is declared, and that nobody reads, would be ignored in silence."""
    package = Path(fairdsl.__file__).parent
    for section in sections().values():
        own = Path(str(inspect.getsourcefile(section)))
        files = [own, *(package / "backends" / engine_of(section)).rglob("*.py")]
        assert not [each.path for each in declared(section) if not _is_read(each.name, files)]
    own = package / "options/run.py"
    files = [own, *(file for file in package.rglob("*.py") if file.parent.name != "options")]
    assert not [each.name for each in declared(Run) if not _is_read(each.name, files)]


def test_functions_have_the_defaults_of_their_commands() -> None:
    for section in COMMANDS:
        taken = inspect.signature(getattr(fairdsl, section.section)).parameters
        for each in declared(section):
            assert each.read(taken[each.name].default) == each.default, each.path


def _is_read(name: str, files: Iterable[Path]) -> bool:
    """Whether an attribute of that name occurs; files that do not have the word are not parsed."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == name for file in files for node in nodes_of(file, f".{name}")
    )


@pytest.mark.parametrize("section", [Run, *sections().values(), *COMMANDS])
def test_defaults_are_values_that_need_no_reading(section: type[Section]) -> None:
    for each in declared(section):
        assert each.read(each.default) == each.default
        assert type(each.read(each.default)) is type(each.default)
