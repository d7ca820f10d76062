"""``fairdsl compile``: solver files."""

from __future__ import annotations

from collections.abc import Mapping

import click

import fairdsl
from fairdsl.cli.guard import SPEC_ERROR
from fairdsl.cli.options import data_option, model_option, spec_argument
from fairdsl.cli.terminal import error_style
from fairdsl.diagnostics.text import render

__all__ = ["command"]


@click.command(
    "compile",
    epilog="Exit codes: 0 everything required is written (measures may be left out); 2 errors, or a "
    "requirement that the format cannot express.",
)
@spec_argument
@click.option(
    "--to",
    "form",
    required=True,
    metavar="FORMAT",
    help="smtlib, vnnlib, interval-job, subset-sum, sdimacs, mcc or dimacs.",
)
@click.option(
    "-o",
    "--output",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Folder to write into.",
)
@model_option
@data_option
@click.option(
    "--partition",
    type=click.IntRange(min=1),
    metavar="N",
    help="Files for every part of the domain: attributes of more than N values are cut into chunks of N.",
)
@click.option(
    "--first", type=click.IntRange(min=1), metavar="COUNT", help="Write only so many partitions, drawn by the seed."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the order of partitions.")
@click.option(
    "--groups",
    type=click.Choice(["enumerate", "learn"]),
    help="Of sdimacs: a file for each group, or files whose solver finds the most and the least favoured one.  "
    "[default: a file for each, up to 256 groups]",
)
@click.pass_context
def command(
    ctx: click.Context,
    spec: str,
    form: str,
    directory: str,
    models: Mapping[str, str],
    data: Mapping[str, str],
    partition: int | None,
    first: int | None,
    seed: int,
    groups: str | None,
) -> None:
    """Write the properties of SPEC as solver files, with a manifest that names them.

    `fairdsl recover DIR` turns the answers to them into a report.
    """
    if first is not None and partition is None:
        raise click.UsageError("--first counts partitions; write --partition N beside it")
    compiled = fairdsl.compile(
        spec,
        to=form,
        directory=directory,
        models=models,
        data=data,
        partition=partition,
        first=first,
        seed=seed,
        groups=groups,
    )
    if partition is None:
        for path in compiled.files:
            click.echo(path)
    for question in compiled.questions if partition is not None else ():
        assert question.cut is not None
        of = f"{len(question.parts):,} of {question.cut.count:,} partitions"
        click.echo(f"{question.property}: {of} of `{' '.join(question.demand.split())}` in {directory}")
    click.echo(compiled.manifest)
    for line in compiled.left_out:
        click.echo(line, err=True)
    if compiled.refused:
        style = error_style()
        text = render(compiled.refused, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True, nl=False)
        ctx.exit(SPEC_ERROR)
