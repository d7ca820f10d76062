"""``fairdsl supports``: which VNN-LIB queries `fairdsl verify` answers, as the standard has solvers say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _opsets() -> Iterator[str]:
    from fairdsl.models.onnx_network import newest_opset

    yield from ("7", str(newest_opset()))


def _operators() -> Iterator[str]:
    from fairdsl.models.onnx_network import OPERATORS

    yield from OPERATORS


#: What is printed for each question, a line each, or what makes the lines.
SUPPORTED: dict[str, tuple[str, ...] | Callable[[], Iterator[str]]] = {
    "onnx-opset-versions": _opsets,
    # What is proved is proved over the reals, whatever the files round.
    "onnx-element-types": ("real",),
    "onnx-operators": _operators,
    "vnnlib-versions": ("2.0", "2.1"),
    "hidden-node-theories": ("NH",),
    "multiple-input-output-theories": ("SIO",),
    "multiple-network-theories": ("SNET", "MENET", "MINET", "MNET"),
    "multiple-node-comparison-theories": ("SNC", "MNC"),
    "arithmetic-complexity-theories": ("BND", "OUTC", "LIN"),
    "optimised-disjunctive-reasoning": ("true",),
    "serialise-assignments": ("false",),
}


def _flags(command: _Command) -> _Command:
    for name in reversed(SUPPORTED):
        words = name.replace("-", " ").replace("onnx", "ONNX").replace("vnnlib", "VNN-LIB")
        command = click.option(f"--{name}", "asked", flag_value=name, help=f"Print the {words}.")(command)
    return command


@click.command("supports")
@_flags
def command(asked: str | None) -> None:
    """Print which VNN-LIB queries `verify` answers.

    The options are those of the VNN-LIB standard, a line for each entry.
    """
    if asked is None:
        raise click.UsageError("name what is asked for, as `--onnx-operators`; `--help` lists all of it")
    found = SUPPORTED[asked]
    for line in found() if callable(found) else found:
        click.echo(line)
