"""From text to tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lark import UnexpectedInput

from fairdsl.diagnostics.model import Diagnostic
from fairdsl.source import SourceFile, Span
from fairdsl.syntax import tree
from fairdsl.syntax.build import TreeBuilder
from fairdsl.syntax.depth import nested_too_deep
from fairdsl.syntax.errors import empty_file, unknown_version
from fairdsl.syntax.kept import Declarations, read_on
from fairdsl.syntax.tables import grammar
from fairdsl.syntax.trivia import Trivia, read_trivia
from fairdsl.syntax.words import Branch


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseResult:
    """The tree of what could be read, and what could not.

    ``lost`` holds the statements and declarations that are missing from the tree, so that later phases
    do not complain about the absence of what the user did write.
    """

    spec: tree.Spec | None
    diagnostics: tuple[Diagnostic, ...]
    lost: tuple[Span, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the tree holds all that the text says."""
        return not self.diagnostics


def parse(source: SourceFile, known: Declarations | None = None) -> ParseResult:
    """Read a file; whatever is wrong with it is reported, never raised.

    ``known`` are declarations of earlier versions of the file, whose trees are taken, and moved, where they still stand
    in it; those of this version are put to them.
    """
    trivia = read_trivia(source)
    if known is not None:
        known.fresh.clear()
    try:
        branch = _read(source.text, known)
    except UnexpectedInput:
        return _parse_around_errors(trivia, known)
    if nested_too_deep(branch):
        return _parse_around_errors(trivia, known)
    spec = TreeBuilder(trivia.file, trivia=trivia, known=known).spec(branch)
    return ParseResult(spec=spec, diagnostics=tuple(_version_errors(spec)) or _emptiness(spec))


def _read(text: str, known: Declarations | None) -> Branch:
    if known is None:
        return grammar().parse(text, start="start")
    return read_on(grammar().parse_interactive(text, start="start"), text, known)


def _parse_around_errors(trivia: Trivia, known: Declarations | None) -> ParseResult:
    # Error recovery and its table of mistakes are not loaded for a text that is right.
    from fairdsl.syntax.recover import recover

    recovered = recover(trivia.file, known)
    if recovered.branch is None:
        return ParseResult(spec=None, diagnostics=recovered.diagnostics, lost=recovered.lost)
    spec = TreeBuilder(trivia.file, recovered.original, trivia, known).spec(recovered.branch)
    return ParseResult(spec=spec, diagnostics=(*recovered.diagnostics, *_version_errors(spec)), lost=recovered.lost)


def _version_errors(spec: tree.Spec) -> Iterator[Diagnostic]:
    if spec.version is not None and spec.version.number.text != "1":
        yield unknown_version(spec.version.number.span, spec.version.number.text)


def _emptiness(spec: tree.Spec) -> tuple[Diagnostic, ...]:
    if spec.version is not None or spec.audit is not None or spec.items:
        return ()
    end = Span(spec.span.file, spec.span.end, spec.span.end)
    return (empty_file(spec.comments[-1].span if spec.comments else end),)
