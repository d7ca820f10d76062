"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any

import click

__all__ = [
    "Seconds",
    "data_option",
    "groups_option",
    "jobs_option",
    "json_option",
    "memory_option",
    "model_option",
    "part",
    "scheduler_option",
    "share",
    "share_of_all",
    "size_of",
    "spec_argument",
    "ssat_solver_option",
    "timeout_option",
]

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
#: Less is not enough to begin with.
_LEAST = 64 << 20


class Seconds(click.FloatRange):
    """A time: a finite number above zero."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of seconds."""
        seconds = super().convert(value, param, ctx)
        if not isfinite(seconds):
            self.fail(f"{value} is no time; write a number of seconds", param, ctx)
        return seconds


def share(_: click.Context, __: click.Parameter, text: str | None) -> Fraction | None:
    """``5%``, ``0.05`` or ``1/20``: a number above 0 and below 1."""
    if text is None:
        return None
    written = text.strip()
    try:
        number = Fraction(written.removesuffix("%").strip()) / (100 if written.endswith("%") else 1)
    except (ValueError, ZeroDivisionError) as error:
        raise click.BadParameter(f"`{text}` is no share; write for example 5% or 0.05") from error
    if not 0 < number < 1:
        raise click.BadParameter(f"`{text}` is no share between 0 and 1; write for example 5% or 0.05")
    return number


def share_of_all(ctx: click.Context, parameter: click.Parameter, text: str) -> Fraction:
    """As :func:`part`, above 0."""
    number = part(ctx, parameter, text)
    if not number:
        raise click.BadParameter(f"`{text}` asks for nothing; write for example 99%")
    return number


def part(_: click.Context, __: click.Parameter, text: str) -> Fraction:
    """``1%``, ``0.01`` or ``1/100``: a number from 0 to 1."""
    written = text.strip()
    try:
        number = Fraction(written.removesuffix("%").strip()) / (100 if written.endswith("%") else 1)
    except (ValueError, ZeroDivisionError) as error:
        raise click.BadParameter(f"`{text}` is no share; write for example 1% or 0.01") from error
    if not 0 <= number <= 1:
        raise click.BadParameter(f"`{text}` is no share; it lies between 0% and 100%")
    return number


def _by_name(kind: str, option: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str]]:
    """A callback that reads ``NAME=PATH`` pairs as a mapping; each name once."""

    def read(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
        files: dict[str, str] = {}
        for pair in pairs:
            name, equals, path = pair.partition("=")
            if not (name and equals and path):
                raise click.BadParameter(f"`{pair}` names no {kind} and file; write {option} NAME=PATH")
            if name in files:
                raise click.BadParameter(f"the {kind} `{name}` is given twice; write one file for it")
            files[name] = path
        return files

    return read


def size_of(_: click.Context, __: click.Parameter, text: str) -> int:
    """``2GiB``, ``1.5GB``, ``500M`` (as MB) or a number of bytes."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"`{text}` is no size; write for example 2GiB or 500MB")
    number, prefix, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.upper()])
    if size < _LEAST:
        raise click.BadParameter(f"`{text}` is too little; give at least 64MiB")
    return size


spec_argument = click.argument("spec", type=click.Path(exists=True, dir_okay=False))

json_option = click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")

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
    callback=_by_name("model", "--model"),
    help="Take the model NAME from this file; a sha256 in the spec still binds.",
)

data_option = click.option(
    "--data",
    multiple=True,
    metavar="NAME=PATH",
    callback=_by_name("distribution", "--data"),
    help="Make the distribution NAME from this file; a sha256 in the spec still binds.",
)

jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use.  [default: all cores]"
)

memory_option = click.option(
    "--memory",
    callback=size_of,
    default="2GiB",
    show_default=True,
    metavar="SIZE",
    help="What the interval refinement may use, all its processes together.",
)

scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the interval refinement run on this Dask cluster, for example tcp://host:8786.",
)

groups_option = click.option(
    "--groups",
    type=click.Choice(["enumerate", "learn"]),
    help="How `ssat` treats the groups of a metric: each by itself, or let the solver find the most and the least "
    "favoured one.  [default: each by itself, up to 256]",
)

ssat_solver_option = click.option(
    "--ssat-solver",
    metavar="NAME|PATH|NAME=PATH",
    help="Ask this solver for stochastic satisfiability instead of the embedded one: ssatABC, SharpSSAT, pyganak, "
    "pyganak-double or pysdd, or a program.",
)
