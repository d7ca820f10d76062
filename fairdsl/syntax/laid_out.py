"""The one layout of a text: what ``fairdsl fmt`` writes, once it is known to say the same.

The layout is read again before anybody writes it. So no file is ever replaced by one that means something else, and
laying out a second time changes nothing: where comments stand between the words of a statement, breaking its lines can
move what is broken, and the layout is repeated until it stays.
"""

from __future__ import annotations

from fairdsl.diagnostics.model import DiagnosticError
from fairdsl.source import SourceFile, Span
from fairdsl.syntax.errors import Wording, something_else
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import ParseResult, parse

#: Layouts are repeated so often at most; the second one stays, but for comments inside statements.
_ROUNDS = 8


def laid_out(source: SourceFile, read: ParseResult | None = None) -> str:
    """The standard layout; DiagnosticError for a text that is not a spec, or whose layout would mean something else.

    What was not understood cannot be laid out, and must not be lost. ``read`` is what the text was read as, where
    somebody has read it.
    """
    read = read or parse(source)
    if read.spec is None or not read.complete:
        raise DiagnosticError(*read.diagnostics)
    text, before = format_spec(read.spec), source.text
    for _ in range(_ROUNDS):
        if text == before:
            return text
        again = parse(SourceFile(source.path, text))
        if again.spec != read.spec or len(again.spec.comments) != len(read.spec.comments):
            raise _refused(source, "the standard layout would mean something else than this file")
        text, before = format_spec(again.spec), text
    raise _refused(source, "whenever it is laid out, the layout of this file changes")


def _refused(source: SourceFile, title: str) -> DiagnosticError:
    help_text = "write each statement on lines of its own, and names that are also words of the language in quotes"
    wording = Wording(title=title, label="the file stays as it is", help=help_text)
    return DiagnosticError(something_else(Span(source, 0, len(source.text.partition("\n")[0])), wording))
