"""The command ``fairdsl``: its verbs, each loaded only when it is used."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import chain

import click

from fairdsl.cli.every_option import ALL, Folded, whole
from fairdsl.cli.guard import Guarded
from fairdsl.cli.memory import prepare_memory
from fairdsl.cli.streams import prepare
from fairdsl.clock import command_began, limited_memory, listening, process_began
from fairdsl.diagnostics.suggest import nearest
from fairdsl.diagnostics.surface import on_a_command_line
from fairdsl.source.reading import LARGEST, reading
from fairdsl.source.spreadsheets import writing

#: Every command by what it is for, in the order of the help; the module of that name below ``fairdsl.cli`` holds it.
SECTIONS = {
    "First steps": ("init", "audit", "check", "explain", "search"),
    "Write specs": ("lint", "fmt", "lsp", "capabilities"),
    "Reports": ("report", "compare"),
    "Question a verdict": ("replay", "sensitivity"),
    "Change models": ("repair", "guarantee", "prune"),
    "Solver files": ("compile", "solve", "recover", "verify", "supports"),
}
#: The section whose commands the everyday help describes; of the others it has the names.
_EVERYDAY, _FIRST = "First steps", "`fairdsl check examples/credit/credit.fair`"
COMMANDS = tuple(chain.from_iterable(SECTIONS.values()))
#: New objects after which Python looks for circles among them.
_OBJECTS = 100_000
#: Longer descriptions are cut in the list of commands.
_LINE = 90


class _Commands(Folded, Guarded):
    """A group whose commands are imported when asked for; its everyday help describes those to begin with."""

    def is_whole(self, args: Sequence[str]) -> bool:
        """Whether all of the help is asked for, of the group itself: behind a command it is the command's."""
        return ALL in args and all(each.startswith("-") for each in args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"fairdsl.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = f"check {args[0]}" if args[0].endswith(".fair") else nearest(args[0], COMMANDS)
            if near is None:
                raise
            raise click.UsageError(f"{error.message} Did you mean `fairdsl {near}`?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in SECTIONS.items():
            if whole(ctx) or title == _EVERYDAY:
                commands = ((name, self.get_command(ctx, name)) for name in names)
                with formatter.section(f"{title}, as {_FIRST}" if title == _EVERYDAY else title):
                    formatter.write_dl([(name, each.get_short_help_str(_LINE)) for name, each in commands if each])
        if not whole(ctx):
            with formatter.section("More, each with its `--help`"):
                formatter.write_dl([(title, ", ".join(SECTIONS[title])) for title in SECTIONS if title != _EVERYDAY])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if whole(ctx):
            super().format_epilog(ctx, formatter)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        import fairdsl

        click.echo(f"fairdsl {fairdsl.__version__}")
        ctx.exit()


def _print_name(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo("fairdsl")
        ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes of every command: 2 mistakes; 70 a bug in fairdsl; 74 a full disk, or output that cannot be "
    "written; 75 no memory; 130 interrupted; 141 nobody reads the output; 143 terminated.",
)
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    hidden=True,
    help="A folder that no path may leave.  [default: the spec's repository, or folder]",
)
@click.option(
    "--largest-file",
    type=click.IntRange(min=1),
    metavar="BYTES",
    hidden=True,
    help=f"Read no file of more bytes.  [default: {LARGEST}]",
)
@click.option(
    "--memory-limit",
    type=click.IntRange(min=1),
    metavar="BYTES",
    hidden=True,
    help="End with what is known (exit code 75) where the process takes more memory.",
)
@click.option(
    "--defuse-formulas",
    is_flag=True,
    hidden=True,
    help="Write an apostrophe before texts in CSV that a spreadsheet takes for formulas.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version and stop.",
)
@click.option(
    "--name",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_name,
    hidden=True,
    help="Print the tool's name and stop.",
)
@click.pass_context
def cli(
    ctx: click.Context, root: str | None, largest_file: int | None, memory_limit: int | None, defuse_formulas: bool
) -> None:
    """Verify that models decide fairly: prove what a spec demands, or show two individuals for whom it fails."""
    ctx.with_resource(on_a_command_line())
    ctx.with_resource(reading(root=root, largest=largest_file))
    ctx.with_resource(limited_memory(memory_limit))
    ctx.with_resource(writing(defuse_formulas=defuse_formulas))


def main(mask: Iterable[int]) -> None:
    """The command ``fairdsl``; ``mask`` are the signals that wait from now on, fewer than do so far."""
    # Imports and specs make many objects and hardly a circle: looking for circles took a sixth of a short command.
    gc.set_threshold(_OBJECTS)
    with command_began(process_began()), listening():
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        prepare()
        prepare_memory()
        cli(prog_name="fairdsl")
