"""What happens when a command cannot go on: mistakes in specs, files, the user's Ctrl-C, and our own bugs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

import click

from fairdsl.cli.terminal import error_style
from fairdsl.clock import OutOfTimeError, interrupting, is_out_of_time, received, unbroken
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.diagnostics.text import render

__all__ = ["OUR_BUG", "SPEC_ERROR", "UNKNOWN", "Guarded", "code_of", "exit_code", "interrupted", "write_whole"]

#: Exit codes that every command shares; those of verdicts are ``report.model.ExitCode``.
SPEC_ERROR = 2
UNKNOWN = 3  # also a command that was not finished in time
OUR_BUG = 70
_INTERRUPT = 130
#: Where nobody reads what is printed: what the shell has for a program that a closed pipe ends.
_NO_READER = 141

_ARGUMENTS = "fairdsl.arguments"
_WRITTEN = "fairdsl.written"


def interrupted() -> int:
    """The exit code of a command that a signal ended: 143 by SIGTERM, else 130, as shells have it."""
    return 128 + (received() or signal.SIGINT)


def exit_code(code: int) -> int:
    """The exit code of a run, with who ended it if somebody did."""
    return interrupted() if code == _INTERRUPT else code


def write_whole(document: str) -> None:
    """Write a document to standard output: the whole of it, whatever signals come, and no other after it."""
    with unbroken():
        click.get_current_context().meta[_WRITTEN] = True
        click.echo(document, nl=False)


class Guarded(click.Group):
    """A group that turns whatever its commands raise into a message and an exit code."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Also remember the arguments as they were typed, for reproducers."""
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises ends here."""
        try:
            with interrupting():
                return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            _nobody_reads(ctx)
        except DiagnosticError as error:
            style = error_style()
            text = render(error.diagnostics, colour=style.colour, unicode=style.unicode, width=style.width)
            click.echo(text, err=True, nl=False)
            ctx.exit(code_of(error.diagnostics))
        except OutOfTimeError:
            click.echo("the time was up; give more of it with `--timeout SECONDS`", err=True)
            ctx.exit(UNKNOWN)
        except KeyboardInterrupt:
            _ended(ctx)
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


def _ended(ctx: click.Context) -> NoReturn:
    """A signal ended a command that had nothing to leave; where JSON was asked for it is a document that says so."""
    from fairdsl.report.findings import Failure
    from fairdsl.report.stopped import who_stopped

    ended = who_stopped()
    if "--json" in ctx.meta[_ARGUMENTS] and _WRITTEN not in ctx.meta:
        write_whole(Failure(ended=ended).to_json())
    click.echo(ended.value, err=True)
    ctx.exit(interrupted())


def _nobody_reads(ctx: click.Context) -> NoReturn:
    """Whoever read standard output went away, which says nothing about any verdict."""
    with suppress(OSError, ValueError):  # what is left in buffers goes nowhere, instead of failing again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    ctx.exit(_NO_READER)


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
