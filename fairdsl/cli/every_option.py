"""A command whose everyday help fits one screen: options of backends are set by ``--set`` and listed by ``--all``."""

from __future__ import annotations

import click

from fairdsl.diagnostics import nearest
from fairdsl.options import Declared, declared

__all__ = ["WithSettings", "write_section"]

_ALL = "--all"


class WithSettings(click.Command):
    """A command with ``--set``: it lists all options on demand, and knows those that are asked for as flags."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option `--help`, which can be asked for more."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this message; with `--all` every option there is."
        return option

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As usual, with `--help --all`, and with what to write for an option that is not a flag."""
        if _ALL in args:
            click.echo(f"{super().get_help(ctx)}\n\n{_listing(ctx)}", color=ctx.color)
            ctx.exit()
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            found = _meant(error.option_name)
            if found is None:
                raise
            message = f"No such option: {error.option_name}; write `--set {found.path}={found.kind.metavar}`"
            raise click.UsageError(message, ctx) from error


def _listing(ctx: click.Context) -> str:
    """Every section with its options."""
    from fairdsl.plan.registry import sections

    formatter = ctx.make_formatter()
    formatter.write_text("Options of single backends are set by `--set SECTION.NAME=VALUE`:")
    for section in sections().values():
        write_section(formatter, section.__doc__ or "", declared(section))
    return formatter.getvalue().rstrip("\n")


def write_section(formatter: click.HelpFormatter, heading: str, options: tuple[Declared, ...]) -> None:
    """A heading, and its options with what they take, do, and are by default."""
    with formatter.section(heading.split("\n")[0].rstrip(".")):
        formatter.write_dl(
            [(f"{each.path}={each.kind.metavar}", each.described()) for each in options],
            col_max=40,
        )


def _meant(flag: str) -> Declared | None:
    """The option of a backend that was written as a flag of its own."""
    from fairdsl.plan.registry import sections

    name = flag.lstrip("-").replace("-", "_")
    by_name = {key: each for section in sections().values() for each in declared(section) for key in _keys(each)}
    guess = nearest(name, by_name, cutoff=0.85)
    return None if guess is None else by_name[guess]


def _keys(option: Declared) -> tuple[str, ...]:
    return option.name, f"{option.section}_{option.name}"
