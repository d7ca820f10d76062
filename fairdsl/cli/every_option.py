"""A command whose everyday help fits one screen: options of backends are set by ``--set`` and listed by ``--all``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics import nearest
from fairdsl.options import Declared, Run, Section, declared
from fairdsl.options.commands import COMMANDS
from fairdsl.options.kinds import Switch
from fairdsl.report.pages import OptionLine, OptionsPage

ALL = "--all"
_WHOLE = "fairdsl.whole_help"
#: Sections whose options are written as flags, and in no other way.
_BY_FLAG = {Run.section, *(section.section for section in COMMANDS)}


def whole(ctx: click.Context) -> bool:
    """Whether all of the help is written."""
    return _WHOLE in ctx.meta


class Folded(click.Command):
    """A command whose everyday help leaves out what most runs have no need of: `--help --all` has it."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """The option `--help`, which can be asked for more."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this message; with `--all` every option there is."
        return option

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As usual, with `--help --all`."""
        if self.is_whole(args):
            ctx.meta[_WHOLE] = True
            folded = [each for each in self.params if isinstance(each, click.Option) and each.hidden]
            for option in folded:
                option.hidden = False
            click.echo("\n\n".join((super().get_help(ctx), *self.further(ctx))), color=ctx.color)
            for option in folded:
                option.hidden = True
            ctx.exit()
        return super().parse_args(ctx, args)

    def is_whole(self, args: Sequence[str]) -> bool:
        """Whether all of the help is asked for."""
        return ALL in args

    def further(self, ctx: click.Context) -> Iterator[str]:
        """What else all of the help has."""
        yield from ()


class WithSettings(Folded):
    """A command with ``--set``: it lists all options on demand, and knows those that are asked for as flags."""

    def further(self, ctx: click.Context) -> Iterator[str]:
        """The options of backends."""
        yield _listing(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As usual, with what to write for an option that is not a flag."""
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
        _write_section(formatter, section, declared(section))
    return formatter.getvalue().rstrip("\n")


def _write_section(formatter: click.HelpFormatter, section: type[Section], options: Sequence[Declared]) -> None:
    """A heading, and options with what they take, do, and are by default."""
    with formatter.section((section.__doc__ or "").split("\n")[0].rstrip(".")):
        formatter.write_dl([(_written(each), each.described()) for each in options], col_max=40)


def _written(option: Declared) -> str:
    """As it is written on the command line."""
    if option.flag is not None and option.section in _BY_FLAG:
        return option.flag if isinstance(option.kind, Switch) else f"{option.flag} {option.kind.metavar}"
    return f"{option.path}={option.kind.metavar}"


def options_about(topic: str) -> dict[type[Section], list[Declared]]:
    """The options, by section, that are meant: `options` are all of them, else a section, a path or a flag."""
    from fairdsl.plan.registry import sections

    found: dict[type[Section], list[Declared]] = {}
    every: list[type[Section]] = [Run, *sections().values(), *COMMANDS]
    for section in every:
        for each in declared(section):
            if topic in ("options", each.section, each.path, each.flag):
                found.setdefault(section, []).append(each)
    return found


def print_options(found: Mapping[type[Section], Sequence[Declared]]) -> None:
    """The options with what they take and do."""
    formatter = click.HelpFormatter(width=output_style().width)
    for section, options in found.items():
        _write_section(formatter, section, options)
    click.echo(formatter.getvalue().strip("\n"))


def options_page(found: Mapping[type[Section], Sequence[Declared]]) -> OptionsPage:
    """The same as a document."""
    return OptionsPage(
        options=tuple(
            OptionLine(option=one.path, flag=one.flag, takes=one.kind.words, default=one.without, help=one.help)
            for options in found.values()
            for one in options
        )
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
