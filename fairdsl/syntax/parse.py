"""From text to tree."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.diagnostics.model import Diagnostic
from fairdsl.source import SourceFile, Span
from fairdsl.syntax import tree
from fairdsl.syntax.build import SpecBuilder
from fairdsl.syntax.tables import grammar
from fairdsl.syntax.trivia import read_trivia

__all__ = ["ParseResult", "parse"]


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


def parse(source: SourceFile) -> ParseResult:
    """Read a file."""
    branch = grammar().parse(source.text)
    return ParseResult(spec=SpecBuilder(read_trivia(source)).spec(branch), diagnostics=())
