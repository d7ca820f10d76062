"""What happens when a command cannot go on: mistakes in specs, files, the user's Ctrl-C, and our own bugs."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import click

from fairdsl.cli.memory import LACKING, NO_MEMORY
from fairdsl.cli.streams import DISK, NO_READER, give_up_output
from fairdsl.cli.terminal import error_style
from fairdsl.clock import OutOfTimeError, interrupting, is_out_of_time, lacked_memory, received, unbroken
from fairdsl.diagnostics import DISK_FAILED, Diagnostic, DiagnosticError
from fairdsl.diagnostics.text import render
from fairdsl.source.writing import disk_failed

#: Exit codes that every command shares; those of verdicts are ``report.model.ExitCode``.
SPEC_ERROR = 2
UNKNOWN = 3  # also a command that was not finished in time
OUR_BUG = 70
_INTERRUPT = 130
#: How libraries that raise errors of their own name a lack of memory.
_LACKING = ("memoryerror", "out of memory", "bad_alloc", "allocate memory", "start new thread", "failed to map segment")

_ARGUMENTS = "fairdsl.arguments"
_WRITTEN = "fairdsl.written"


def interrupted() -> int:
    """The exit code of a command that a signal ended: 143 by SIGTERM, else 130, as shells have it; 75 for memory."""
    if lacked_memory():
        return NO_MEMORY
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

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Also print help and versions to a reader who is gone, or a disk that is full."""
        try:
            return super().make_context(*args, **extra)
        except OSError as error:
            sys.exit(_not_told(error))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises ends here."""
        try:
            with interrupting():
                return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
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
            _ended(ctx)
        except OSError as error:
            _system_error(ctx, error)
        except Exception as error:
            if _lacks_memory(error):
                _no_memory(ctx)
            _our_bug(ctx, error)


def code_of(findings: Iterable[Diagnostic]) -> int:
    """The exit code of a command that ends with findings: nothing is known where only the time was up."""
    found = tuple(findings)
    if any(finding.code == DISK_FAILED for finding in found):
        return DISK
    return UNKNOWN if is_out_of_time(found) else SPEC_ERROR


def _system_error(ctx: click.Context, error: OSError) -> NoReturn:
    """What the system would not do: a file, memory, or standard output, which has no name."""
    if _lacks_memory(error):
        _no_memory(ctx)
    if error.filename is not None:
        click.echo(f"error: `{error.filename}`: {error.strerror}", err=True)
        ctx.exit(DISK if disk_failed(error) else SPEC_ERROR)
    if isinstance(error, BrokenPipeError) or disk_failed(error):
        ctx.exit(_not_told(error))
    _our_bug(ctx, error)


def _not_told(error: OSError) -> int:
    """Standard output failed; the exit code, which says nothing about any verdict."""
    give_up_output()
    if isinstance(error, BrokenPipeError):
        return NO_READER
    click.echo(f"error: cannot write to standard output: {(error.strerror or str(error)).lower()}", err=True)
    return DISK


def _lacks_memory(error: BaseException) -> bool:
    """Whether the error is a lack of memory, in Python's words or in those of a library."""
    said = str(error).lower()
    lacking = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return lacking or isinstance(error, MemoryError) or any(words in said for words in _LACKING)


def _no_memory(ctx: click.Context) -> NoReturn:
    click.echo(LACKING, err=True)
    ctx.exit(NO_MEMORY)


def _ended(ctx: click.Context) -> NoReturn:
    """A signal ended a command that had nothing to leave; where JSON was asked for it is a document that says so."""
    from fairdsl.report.findings import Failure
    from fairdsl.report.stopped import who_stopped

    ended = who_stopped()
    if "--json" in ctx.meta[_ARGUMENTS] and _WRITTEN not in ctx.meta:
        write_whole(Failure(ended=ended).to_json())
    click.echo(ended.value, err=True)
    ctx.exit(interrupted())


def _our_bug(ctx: click.Context, error: Exception) -> NoReturn:
    """Say that it is ours, and leave what is needed to repeat it."""
    try:
        from fairdsl.cli.bug import leave_reproducer
    except MemoryError:  # of which there was enough only before
        _no_memory(ctx)
    folder = leave_reproducer(ctx.meta[_ARGUMENTS], error)
    click.echo(
        "This is a bug in fairdsl, not in your spec; no verdict was reached.\n"
        f"  what happened  {type(error).__name__}: {error}\n"
        f"  reproducer     {folder}\n"
        "Please send us that folder: it holds the command, the specs and the trace, but no model or data.",
        err=True,
    )
    ctx.exit(OUR_BUG)
