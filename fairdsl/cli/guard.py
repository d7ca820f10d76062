"""What happens when a command cannot go on: mistakes in specs, files, the user's Ctrl-C, and our own bugs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import click

from fairdsl.cli.terminal import error_style
from fairdsl.clock import OutOfTimeError, is_out_of_time
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.diagnostics.text import render

__all__ = ["INTERRUPTED", "OUR_BUG", "SPEC_ERROR", "UNKNOWN", "Guarded", "code_of"]

#: Exit codes that every command shares; those of verdicts are ``report.model.ExitCode``.
SPEC_ERROR = 2
UNKNOWN = 3  # also a command that was not finished in time
OUR_BUG = 70
INTERRUPTED = 130

_ARGUMENTS = "fairdsl.arguments"


class Guarded(click.Group):
    """A group that turns whatever its commands raise into a message and an exit code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Also remember the arguments as they were typed, for reproducers."""
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises ends here."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except DiagnosticError as error:
            style = error_style()
            text = render(error.diagnostics, colour=style.colour, unicode=style.unicode, width=style.width)
            click.echo(text, err=True, nl=False)
            ctx.exit(code_of(error.diagnostics))
        except OutOfTimeError:
            click.echo("the time was up; give more of it with `--timeout SECONDS`", err=True)
            ctx.exit(UNKNOWN)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except OSError as error:
            if error.filename is None:
                _our_bug(ctx, error)
            click.echo(f"error: `{error.filename}`: {error.strerror}", err=True)
            ctx.exit(SPEC_ERROR)
        except Exception as error:
            _our_bug(ctx, error)


def code_of(findings: Iterable[Diagnostic]) -> int:
    """The exit code of a command that ends with findings: nothing is known where only the time was up."""
    return UNKNOWN if is_out_of_time(findings) else SPEC_ERROR


def _our_bug(ctx: click.Context, error: Exception) -> NoReturn:
    """Say that it is ours, and leave what is needed to repeat it."""
    from fairdsl.cli.bug import leave_reproducer

    folder = leave_reproducer(ctx.meta[_ARGUMENTS], error)
    click.echo(
        "This is a bug in fairdsl, not in your spec; no verdict was reached.\n"
        f"  what happened  {type(error).__name__}: {error}\n"
        f"  reproducer     {folder}\n"
        "Please send us that folder: it holds the command, the specs and the trace, but no model or data.",
        err=True,
    )
    ctx.exit(OUR_BUG)
