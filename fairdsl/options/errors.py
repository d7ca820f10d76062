"""What is wrong with options: names that there are not, values that they do not take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairdsl.diagnostics import Diagnostic, nearest

if TYPE_CHECKING:
    from fairdsl.options.declare import Declared
    from fairdsl.options.kinds import Kind

_LIST = "`fairdsl explain options` lists all options"


def no_such_section(section: str, name: str | None, every: Sequence[Declared]) -> Diagnostic:
    """A section that nobody declares; ``name`` is the option that was to be set in it."""
    known = tuple(dict.fromkeys(each.section for each in every if each.section != "run"))
    guess = nearest(section, known)
    same = next((each for each in every if each.name == name), None)
    if guess is None and same is not None:
        advice = _spelled(same)
    else:
        listing = ", ".join(f"`{one}`" for one in known)
        advice = f"did you mean `{guess}`?" if guess else f"the sections are {listing}; {_LIST}"
    if not section:
        return _unknown(f"`{name}` is not an option without its section", advice)
    return _unknown(f"there is no section of options called `{section}`", advice)


def no_such_option(section: str, name: str, every: Sequence[Declared]) -> Diagnostic:
    """A name that the section does not have: perhaps a slip, perhaps one of another section."""
    own = [each for each in every if each.section == section]
    guess = nearest(name, [each.name for each in own])
    same = next((each for each in every if each.name == name), None)
    if same is not None:
        advice = _spelled(same)
    elif guess is not None:
        advice = f"did you mean `{section}.{guess}`?"
    else:
        advice = f"`{section}` has {', '.join(f'`{each.path}`' for each in own)}"
    return _unknown(f"there is no option called `{section}.{name}`", advice)


def not_a_setting(text: str) -> Diagnostic:
    """Something after ``--set`` that is not an option with its value."""
    return _unknown(
        f"`{text}` does not set an option", "write `--set SECTION.NAME=VALUE`, as `--set smt.trust_milp=yes`"
    )


def _unknown(title: str, advice: str) -> Diagnostic:
    return Diagnostic(
        code="E0660",
        title=title,
        why="an option that is passed over would leave a report on another run than the one that was asked for",
        help=advice,
    )


def _spelled(option: Declared) -> str:
    """How to set an option that was looked for in the wrong place."""
    if option.section == "run":
        return f"write `{option.flag}` on the command line, `{option.name}=` in Python"
    return f"did you mean `{option.path}`?"


def has_flag(path: str, flag: str) -> Diagnostic:
    """An option that is written as a flag, and in no other way."""
    return _unknown(f"`{path}` is not set by `--set`", f"write `{flag}`")


def wrong_value(path: str, kind: Kind[Any], value: object) -> Diagnostic:
    """A value that the option does not take."""
    guess = nearest(str(value), kind.choices)
    advice = f"did you mean `{guess}`?" if guess else f"write for example `{kind.example}`"
    return _value(f"`{path}` takes {kind.words}, not `{value}`", advice)


def set_twice(path: str) -> Diagnostic:
    """Two values for one option."""
    return _value(f"`{path}` is set twice", "write it once, with the value that is meant")


def other_section(name: str, kind: str, value: object) -> Diagnostic:
    """The object of another section's class."""
    return _value(f"the section `{name}` takes a `{kind}`, not a `{type(value).__name__}`", f"write `{kind}(...)`")


def _value(title: str, advice: str) -> Diagnostic:
    return Diagnostic(code="E0661", title=title, help=advice)


def needs(path: str, other: str, example: str) -> Diagnostic:
    """An option that says nothing without another one."""
    return _idle(f"`{path}` says nothing without `{other}`", f"add {example}, or leave out `{path}`")


def excludes(path: str, why: str) -> Diagnostic:
    """An option that another one leaves no room for."""
    return _idle(f"`{path}` has no effect here: {why}", f"leave out `{path}`")


def _idle(title: str, advice: str) -> Diagnostic:
    return Diagnostic(code="E0662", title=title, why="it would be passed over without a word", help=advice)
