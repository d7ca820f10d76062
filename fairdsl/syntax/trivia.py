"""What the grammar ignores and the tree keeps: comments, and the doc text before declarations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fairdsl.source import SourceFile, Span
from fairdsl.syntax import tree

_CHUNK = re.compile(r'"[^"\n]*"|#[^\n]*|[^\s"#\ufeff]+|"')
_DOC = re.compile(r"##(?!#)")


@dataclass(slots=True)
class Trivia:
    """The comments of a file, and its doc lines by the offset of the word that follows them."""

    file: SourceFile
    comments: list[tree.Comment] = field(default_factory=list)
    docs: dict[int, list[Span]] = field(default_factory=dict)

    def claim_doc(self, start: int) -> tuple[str, ...]:
        """The doc text before what begins at ``start``; each line is given out once."""
        doc = self.doc_at(start)
        self.docs.pop(start, None)
        return doc

    def doc_at(self, start: int) -> tuple[str, ...]:
        """The same, not given out."""
        return tuple(_doc_text(span.text) for span in self.docs.get(start, ()))

    def all_comments(self) -> tuple[tree.Comment, ...]:
        """All comments in order; doc lines before nothing that they could document become comments."""
        strays = [
            tree.Comment(text=span.text.rstrip()[1:], span=span, own_line=True)
            for spans in self.docs.values()
            for span in spans
        ]
        return tuple(sorted(self.comments + strays, key=lambda comment: comment.span.start))


def _doc_text(written: str) -> str:
    return written[2:].removeprefix(" ").rstrip()


def read_trivia(file: SourceFile) -> Trivia:
    """Find comments and doc lines; strings are skipped, so a ``#`` inside one is text."""
    trivia = Trivia(file)
    pending: list[Span] = []
    for match in _CHUNK.finditer(file.text):
        if not match.group().startswith("#"):
            if pending:
                trivia.docs[match.start()] = pending
                pending = []
            continue
        span = Span(file, match.start(), match.end())
        own_line = _stands_alone(file.text, match.start())
        if own_line and _DOC.match(match.group()):
            pending.append(span)
        else:
            trivia.comments.append(tree.Comment(text=match.group().rstrip(), span=span, own_line=own_line))
    if pending:
        trivia.docs[len(file.text)] = pending
    return trivia


def _stands_alone(text: str, offset: int) -> bool:
    line_start = text.rfind("\n", 0, offset) + 1
    return not text[line_start:offset].strip(" \t\r\f\v\ufeff")
