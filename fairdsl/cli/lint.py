"""``fairdsl lint``: mistakes in specs, without a solver."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.guard import code_of
from fairdsl.cli.options import let_option, model_option, share_of_all, timeout_option
from fairdsl.cli.printing import Printer, print_findings, printer_option
from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Severity
from fairdsl.report.findings import Findings

if TYPE_CHECKING:
    from fairdsl.ir.agreement import Agreement


@click.command("lint", epilog="Exit codes: 0 no errors (there may be warnings); 2 errors.")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--files", is_flag=True, help="Also open the models and compare them with the domain.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE.csv",
    help="With `--predictions`: a table with the spec's columns.",
)
@click.option(
    "--predictions",
    metavar="COLUMN",
    help="Hold the model against this column of `--data`: recorded decisions, labels or probabilities.",
)
@click.option(
    "--model-name", "name", metavar="NAME", help="Whose `--predictions` they are, where there are several models."
)
@click.option(
    "--at-least",
    "share",
    callback=share_of_all,
    default="100%",
    metavar="SHARE",
    help="How many of the rows of `--predictions` have to agree, ties aside.  [default: 100%]",
)
@printer_option
@model_option
@let_option
@timeout_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    specs: tuple[str, ...],
    files: bool,
    data: str | None,
    predictions: str | None,
    name: str | None,
    share: Fraction,
    printer: Printer,
    **given: Any,
) -> None:
    """Find mistakes in SPEC without running any solver."""
    if (data is None) != (predictions is None) or (data is not None and len(specs) > 1):
        raise click.UsageError("`--data FILE --predictions COLUMN` belong together, about the model of one spec")
    found: list[Diagnostic] = []
    for spec in specs:
        # Two specs may use one file: what is wrong with it is said once.
        checked = fairdsl.lint(spec, files=files, **given)
        found += [finding for finding in checked if finding not in found]
    held: Agreement | None = None
    if data is not None and predictions is not None and not _has_errors(found):
        asked = {"data": data, "column": predictions, "model": name, "share": share}
        held = _held(specs[0], found, {**asked, **given})
    printer.show(Findings(specs=specs, agreement=held, diagnostics=tuple(found)), _print)
    if _has_errors(found):
        ctx.exit(code_of(found))


def _print(found: Findings) -> None:
    """The findings to standard error, and what came of comparing decisions to standard output."""
    print_findings(found, more=False)
    held = found.agreement
    if held is not None:
        style = output_style()
        click.echo(style.shown(f"{held.model} agrees on {held.in_words()}"))
        click.echo(style.shown(f"  read as {held.reading}"))
        if held.agreeing_exactly is not None and held.agreeing_exactly != held.agreeing:
            click.echo(f"  exact arithmetic agrees on {held.agreeing_exactly:,} rows")
        if held.kept:
            for row in held.disagreements:
                click.echo(style.shown(f"  {row.in_words()}"))


def _has_errors(found: list[Diagnostic]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in found)


def _held(spec: str, found: list[Diagnostic], asked: Mapping[str, Any]) -> Agreement | None:
    """What comes of holding the model against recorded decisions; what is to be said of it is added to ``found``."""
    try:
        held = fairdsl.agreement(spec, **asked)
    except DiagnosticError as error:
        found += [finding for finding in error.diagnostics if finding not in found]
        return None
    except ValueError as problem:
        raise click.UsageError(f"{problem}; name one with `--model-name`") from problem
    found += [finding for finding in held.findings if finding not in found]
    return held
