"""``fairdsl prune``: a smaller network, and what it does otherwise than the original."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.options import check_free, command_options, let_option, model_option, spec_argument, timeout_option
from fairdsl.cli.printing import Printer, print_findings, printer_option
from fairdsl.cli.terminal import output_style
from fairdsl.options.commands import Prune

if TYPE_CHECKING:
    from fairdsl.pruning.run import LayerCount, Pruned

__all__ = ["command"]


@click.command(
    "prune",
    epilog="The written file is another network: verdicts on it prove nothing about the original. "
    "Exit codes: 0 written; 2 errors in the spec, the data or the command line, or a file that cannot be cut exactly.",
)
@spec_argument
@click.option("--model-name", "model", metavar="NAME", help="The model to prune, where the spec has several.")
@command_options(Prune)
@click.option(
    "--data",
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="Measure accuracy on this table, with the spec's columns and its label.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE.onnx",
    help="The file to write.",
)
@model_option
@let_option
@timeout_option
@printer_option
@click.pass_context
def command(ctx: click.Context, /, spec: str, printer: Printer, models: Mapping[str, str], **options: Any) -> None:
    """Write a network without the units that are seldom active.

    Units are profiled on random individuals of the domain. Pruning is a heuristic: `fairdsl check` on the
    written file verifies that file, not the original.
    """
    check_free(Path(options["output"]))
    with printer.failing(ctx):
        pruned = fairdsl.prune(spec, models=models, **options)
    given = [word for name, number in options["let"].items() for word in ("--let", f"{name}={number}")]
    printer.show(pruned, lambda found: _print([spec, *given], found))


def _print(asked: Sequence[str], pruned: Pruned) -> None:
    """What was removed, what that did to decisions, and what the file is good for; ``asked`` names the spec."""
    print_findings(pruned.diagnostics)
    style = output_style()
    for line in (
        f"{pruned.model}   {pruned.original} -> {pruned.file}",
        _row("tolerance", _rule(pruned)),
        _row("removed", _removed(pruned)),
        *(_row("silenced", line) for line in _silenced(pruned)),
        *(_row("accuracy", line) for line in _accuracy(pruned)),
        _row("decisions", _decisions(pruned)),
        _row("meaning", f"verdicts on `{pruned.file}` are about the pruned network, and prove nothing about"),
        _row("", f"`{pruned.original}`"),
        *(_row("pinned", line) for line in _pinned(pruned)),
        _row("check it", f"fairdsl check {shlex.join([*asked, '--model', f'{pruned.model}={pruned.file}'])}"),
    ):
        click.echo(style.shown(line))


def _row(name: str, text: str) -> str:
    return f"    {name:<11}{text}"


def _rule(pruned: Pruned) -> str:
    from fairdsl.ir.numbers import shown

    share = shown(pruned.tolerance, percent=True)
    return f"units active for at most {share} of {pruned.profiled:,} random individuals (seed {pruned.seed})"


def _removed(pruned: Pruned) -> str:
    from fairdsl.ir.numbers import shown

    if not pruned.removed:
        same = f"none of {pruned.units:,} hidden units: the file holds the same network"
        if pruned.least is None or pruned.least <= pruned.tolerance:
            return same  # nobody was drawn, or a layer keeps its last unit
        return f"{same}; the least active one is active for {shown(pruned.least, percent=True)}"
    counted = (f"{_count(layer)} in layer {number}" for number, layer in enumerate(pruned.layers, start=1))
    return f"{pruned.removed:,} of {pruned.units:,} hidden units: {', '.join(counted)}"


def _count(layer: LayerCount) -> str:
    return f"{layer.removed:,} of {layer.units:,}"


def _silenced(pruned: Pruned) -> list[str]:
    silenced = sum(layer.silenced for layer in pruned.layers)
    return [f"{silenced:,} of these are still in the file, with weights and bias 0"] if silenced else []


def _accuracy(pruned: Pruned) -> list[str]:
    from fairdsl.ir.numbers import shown

    measured = pruned.accuracy
    if measured is None:
        return []
    before, after = (shown(Fraction(count, measured.rows), percent=True) for count in (measured.before, measured.after))
    changed = f"{measured.changed:,} decision{'' if measured.changed == 1 else 's'}"
    return [f"{before} before, {after} after, on {measured.rows:,} rows of `{measured.path}`; {changed} changed"]


def _decisions(pruned: Pruned) -> str:
    from fairdsl.ir.numbers import Towards, shown

    sampled = pruned.disagreement
    if sampled is None:
        return "no estimate of how many change: no individual of the domain can be drawn uniformly"
    share = shown(Fraction(sampled.changed, sampled.drawn), percent=True)
    low = shown(sampled.low, percent=True, towards=Towards.DOWN)
    high = shown(sampled.high, percent=True, towards=Towards.UP)
    confidence = shown(sampled.confidence, percent=True)
    return f"{share} of {sampled.drawn:,} other individuals are decided differently ({confidence}: {low} .. {high})"


def _pinned(pruned: Pruned) -> list[str]:
    if not pruned.pinned:
        return []
    return ["the spec names the original by its digest; to check this file write there", f'sha256 "{pruned.sha256}"']
