"""How commands print what they came to: one table of formats, from which a command's options choose one.

A format prints every document; only text needs to know how, and a command gives it the function that does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import click

from fairdsl.cli.guard import code_of, write_whole
from fairdsl.cli.terminal import error_style, output_style
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.diagnostics.text import render, render_repeated

if TYPE_CHECKING:
    from fairdsl.report.model import Report


class Written(Protocol):
    """What has a document: a :class:`fairdsl.codec.Document`, or what is used as one."""

    def to_json(self) -> str:
        """The document as JSON."""


_D = TypeVar("_D", bound=Written)
_Command = TypeVar("_Command", bound=Callable[..., Any])


class Printer(ABC):
    """One format on standard output."""

    #: The help of its flag; None of the format that there is without one.
    words: ClassVar[str | None] = None
    #: Whether something is printed before a command is done; else it is one document at the end.
    as_it_comes: ClassVar[bool] = False

    @abstractmethod
    def show(self, document: _D, as_text: Callable[[_D], None]) -> None:
        """Print a document; ``as_text`` is how it is said to people."""

    @contextmanager
    def failing(self, ctx: click.Context) -> Iterator[None]:
        """Mistakes that end the command are a document as well; the exit code says that they did."""
        try:
            yield
        except DiagnosticError as error:
            from fairdsl.report.findings import Failure

            self.show(Failure(diagnostics=tuple(error.diagnostics)), _unprinted)
            ctx.exit(code_of(error.diagnostics))


class _Text(Printer):
    """Words for people; mistakes go to standard error, where every command's go."""

    as_it_comes = True

    def show(self, document: _D, as_text: Callable[[_D], None]) -> None:
        as_text(document)

    @contextmanager
    def failing(self, ctx: click.Context) -> Iterator[None]:
        yield


class _Json(Printer):
    """One JSON document, whole."""

    words = "Write one JSON object to standard output."

    def show(self, document: _D, as_text: Callable[[_D], None]) -> None:
        write_whole(document.to_json())


#: Every format by its name, which is that of its flag.
PRINTERS: dict[str, Printer] = {"text": _Text(), "json": _Json()}


def _chosen(_: click.Context, __: click.Parameter, name: str | None) -> Printer:
    return PRINTERS[name or "text"]


def printer_option(command: _Command) -> _Command:
    """A flag a format, such as ``--json``; the format that is chosen goes by the name ``printer``."""
    for name, printer in PRINTERS.items():
        if printer.words is not None:
            command = click.option(
                f"--{name}", "printer", flag_value=name, default=None, callback=_chosen, help=printer.words
            )(command)
    return command


def print_findings(findings: Sequence[Diagnostic], *, more: bool = True) -> None:
    """Findings on standard error, with a blank line where ``more`` follows."""
    if findings:
        style = error_style()
        text = render(findings, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True, nl=more)


def print_lines(lines: Iterable[str], findings: Sequence[Diagnostic] = ()) -> None:
    """Lines as the terminal can show them, and ``findings`` before them."""
    print_findings(findings)
    style = output_style()
    for line in lines:
        click.echo(style.shown(line))


def print_report(report: Report) -> None:
    """The report as text."""
    from fairdsl.report.text import render as as_text

    style = output_style()
    click.echo(as_text(report, colour=style.colour, unicode=style.unicode, width=style.width), nl=False)


def print_repeated(findings: Sequence[Diagnostic]) -> None:
    """Warnings that were explained before, in brief and on standard error."""
    if findings:
        style = error_style()
        click.echo(render_repeated(findings, colour=style.colour, unicode=style.unicode, width=style.width), err=True)


def _unprinted(_: Written) -> None:
    raise AssertionError("people read of mistakes on standard error")
