"""Options that several commands share; those of runs and engines as they are declared (:mod:`fairdsl.options`)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from fairdsl.options import Declared, Kind, Run, Section, declared
from fairdsl.options.kinds import Seconds as _Seconds
from fairdsl.options.kinds import Share, Switch

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Of(click.ParamType):  # type: ignore[type-arg]  # generic in some versions only
    """The values of a kind, read and refused as everywhere."""

    def __init__(self, kind: Kind[Any]) -> None:
        self._kind = kind
        self.name = kind.metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value; BadParameter for what is not of the kind."""
        try:
            return self._kind.read(value)
        except (ValueError, KeyError, ArithmeticError):
            self.fail(f"`{value}` is not {self._kind.words}; write for example {self._kind.example}", param, ctx)


class _Declared(click.ParamType):  # type: ignore[type-arg]
    """The values of a declared option; what is wrong with one is said as in the Python API."""

    def __init__(self, option: Declared) -> None:
        self._option = option
        self.name = option.kind.metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value. Raises DiagnosticError for what is not one."""
        return self._option.read(value)


def run_option(
    name: str,
    default: Any = None,
    help: str | None = None,  # noqa: A002
    *,
    hidden: bool = False,
) -> Callable[[_Command], _Command]:
    """The flag of an option that concerns a run as a whole, where another default or help may hold."""
    option = _option(Run, name)
    assert option.flag is not None, "everything about runs has a flag"
    return _flag(option, option.flag, name, default, help, hidden=hidden)


def engine_option(section: type[Section], name: str) -> Callable[[_Command], _Command]:
    """The flag of an engine's option; its value goes by the name ``section_name``."""
    option = _option(section, name)
    assert option.flag is not None, "it is declared with a flag"
    return _flag(option, option.flag, f"{section.section}_{name}")


def command_options(section: type[Section], *, rare: Collection[str] = ()) -> Callable[[_Command], _Command]:
    """The flags of all options of a command's own section; their values go by the names of its fields.

    Those that are ``rare`` are in the help where all are asked for.
    """

    def with_flags(command: _Command) -> _Command:
        for option in reversed(declared(section)):
            if option.flag is not None:  # others are set by `--set`
                command = _flag(option, option.flag, option.name, hidden=option.name in rare)(command)
        return command

    return with_flags


def _option(section: type[Section], name: str) -> Declared:
    return next(each for each in declared(section) if each.name == name)


def _flag(
    option: Declared, flag: str, parameter: str, default: Any = None, text: str | None = None, *, hidden: bool = False
) -> Callable[[_Command], _Command]:
    described = replace(option, help=text or option.help).described(default)
    usual = option.default if default is None else default
    if isinstance(option.kind, Switch):
        return click.option(flag, parameter, is_flag=True, default=usual, help=option.help, hidden=hidden)
    kind, metavar = _Declared(option), option.kind.metavar
    return click.option(flag, parameter, type=kind, default=usual, metavar=metavar, help=described, hidden=hidden)


def settings_option(text: str) -> Callable[[_Command], _Command]:
    """``--set SECTION.NAME=VALUE``; the values go by the name ``settings``."""
    return click.option("--set", "settings", multiple=True, metavar="OPTION=VALUE", help=text)


set_option = settings_option("Set an option of a backend (repeatable); `--help --all` lists them.")


def Seconds() -> click.ParamType:  # type: ignore[type-arg]  # noqa: N802 - a type
    """A time: a finite number of seconds above zero."""
    return _Of(_Seconds())


def shares(kind: Share) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """A callback that reads a share of this kind."""

    def read(ctx: click.Context, parameter: click.Parameter, text: str | None) -> Fraction | None:
        return None if text is None else _Of(kind).convert(text, parameter, ctx)

    return read


#: ``5%``, ``0.05`` or ``1/20``: a number above 0 and below 1.
share = shares(Share(above=True, below=True))
#: As :data:`part`, above 0.
share_of_all = shares(Share(above=True))
#: ``1%``, ``0.01`` or ``1/100``: a number from 0 to 1.
part = shares(Share())


def by_name(
    kind: str, option: str, what: str = "PATH"
) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str]]:
    """A callback that reads ``NAME=PATH`` pairs, or what is in place of ``PATH``, as a mapping; each name once."""
    noun = "file" if what == "PATH" else what.lower()

    def read(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
        files: dict[str, str] = {}
        for pair in pairs:
            name, equals, path = pair.partition("=")
            if not (name and equals and path):
                raise click.BadParameter(f"`{pair}` names no {kind} and {noun}; write {option} NAME={what}")
            if name in files:
                raise click.BadParameter(f"the {kind} `{name}` is given twice; write one {noun} for it")
            files[name] = path
        return files

    return read


spec_argument = click.argument("spec", type=click.Path(exists=True, dir_okay=False))

timeout_option = click.option(
    "--timeout",
    type=Seconds(),
    metavar="SECONDS",
    help="Time limit in seconds for the whole run.  [default: none]",
)

model_option = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME=PATH",
    callback=by_name("model", "--model"),
    help="Read the model NAME from this file; a sha256 in the spec still binds.",
)

let_option = click.option(
    "--let",
    "let",
    multiple=True,
    metavar="NAME=NUMBER",
    callback=by_name("parameter", "--let", "NUMBER"),
    help="Another number for a parameter of the spec.",
)

data_option = click.option(
    "--data",
    multiple=True,
    metavar="NAME=PATH",
    callback=by_name("distribution", "--data"),
    help="Make the distribution NAME from this file; a sha256 still binds.",
)

jobs_option, memory_option = run_option("jobs"), run_option("memory")


def output_option(
    metavar: str, text: str, parameter: str = "output", *, required: bool = True
) -> Callable[[_Command], _Command]:
    """``-o``: the file, or the folder, that is written."""
    kind = click.Path(file_okay=metavar != "DIR", dir_okay=metavar == "DIR")
    return click.option("-o", "--output", parameter, required=required, type=kind, metavar=metavar, help=text)


def properties_option(text: str) -> Callable[[_Command], _Command]:
    """``--property``, as often as there are properties to name."""
    return click.option("--property", "properties", multiple=True, metavar="NAME", help=f"{text} (repeatable).")


def check_free(output: Path) -> None:
    """UsageError where the file would replace another one, which may be an original, or has no folder."""
    if output.exists():
        raise click.UsageError(f"`{output}` exists already; name another file with `-o`, or remove it")
    if not output.parent.is_dir():
        raise click.UsageError(f"there is no folder `{output.parent}`")
