"""``fairdsl audit``: predictions of a file compared by groups, without a spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.options import command_options
from fairdsl.cli.printing import Printer, print_lines, printer_option
from fairdsl.options.commands import Audit
from fairdsl.source.numbers import read_number

if TYPE_CHECKING:
    pass


class _Number(click.ParamType):  # type: ignore[type-arg]  # generic in some versions only
    """An exact number."""

    name = "NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        try:
            return read_number(value) if isinstance(value, str) else value
        except ValueError:
            self.fail(f"`{value}` is not a number; write for example 0.5", param, ctx)


_NUMBER = _Number()


@click.command("audit", epilog="Exit codes: 0 audited; 2 a table or column that cannot be used, or a file in the way.")
@click.argument("data", metavar="DATA.csv", type=click.Path(exists=True, dir_okay=False))
@click.option("--protected", metavar="COLUMNS", required=True, help="Who is protected: columns, with commas between.")
@click.option("--prediction", metavar="COLUMN", help="What was decided.")
@click.option("--label", metavar="COLUMN", help="What became of people, or what would have been right.")
@click.option("--scores", metavar="COLUMN", help="The scores that decided.")
@click.option("--threshold", type=_NUMBER, metavar="NUMBER", help="From which score on the decision is favourable.")
@click.option("--positive", metavar="VALUE", help="The favourable value.  [default: 1, true or yes]")
@click.option("--positive-label", metavar="VALUE", help="The deserving value, where the label has another one.")
@click.option(
    "--privileged",
    metavar="COLUMN=VALUE",
    multiple=True,
    help="The group that others are compared with; of one column its value.",
)
@click.option("--metrics", metavar="NAMES", help="Metrics, with commas between.  [default: a few; all: every one]")
@click.option("--spec", type=click.Path(dir_okay=False), metavar="FILE.fair", help="Write the spec that says the same.")
@command_options(Audit)
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: str,
    protected: str,
    privileged: tuple[str, ...],
    metrics: str | None,
    spec: str | None,
    printer: Printer,
    **options: Any,
) -> None:
    """Compare groups of a table by what was decided about them, with intervals. No model is needed."""
    if spec is not None and not Path(spec).absolute().parent.is_dir():
        raise click.UsageError(f"there is no folder `{Path(spec).parent}`")
    alone = len(privileged) == 1 and "=" not in privileged[0]  # the value of a single protected column, as in Python
    named = privileged[0] if alone else dict(part.partition("=")[::2] for part in privileged)
    with printer.failing(ctx):
        audited = fairdsl.audit_table(
            data, protected=_names(protected), privileged=named or None, metrics=_names(metrics), **options
        )
        if spec is not None:
            audited.write(spec)
    printer.show(audited, lambda each: print_lines(str(each).splitlines()))


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text else []
