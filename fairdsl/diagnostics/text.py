"""Diagnostics as text for people: where, what, why it matters and what to write instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from fairdsl.diagnostics.model import Diagnostic, Edit, Label, Severity
from fairdsl.diagnostics.snippet import Gutter, excerpt
from fairdsl.diagnostics.style import Paint, Style, display_width, wrap
from fairdsl.source import SourceFile, Span

#: How many of several warnings of one kind are named under the first.
_NAMED = 3
#: How many findings are printed; documents have them all.
_SHOWN = 40
#: How many lines of a replacement are shown.
_FIX_LINES = 6

_PAINTS = {Severity.ERROR: Paint.ERROR, Severity.WARNING: Paint.WARNING}


def render(
    diagnostics: Iterable[Diagnostic],
    *,
    colour: bool = False,
    unicode: bool = True,
    width: int = 100,
    closing: bool = True,
) -> str:
    """The diagnostics in their order and, if ``closing``, a line that counts them.

    What is said of one place again, as of each property of a `for each`, is printed once. Warnings of one code are
    folded into the first of them. Of very many findings the first ones are printed. The text ends in a line break
    unless there is nothing to say.
    """
    found = tuple(dict.fromkeys(diagnostics))
    style = Style(colour=colour, unicode=unicode, width=max(width, 40))
    folded = list(_folded(found))
    blocks = ["\n".join(_block(first, others, style)) for first, others in folded[:_SHOWN]]
    if len(folded) > _SHOWN:
        blocks.append(f"... and {len(folded) - _SHOWN:,} more")
    if closing and found:
        blocks.append(style.paint(summary(found), Paint.BOLD))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def repeats(diagnostic: Diagnostic, explained: Collection[Diagnostic]) -> bool:
    """Whether a warning has nothing but its place and its notes to add to one that was explained."""
    if diagnostic.severity is Severity.ERROR or diagnostic.fix or diagnostic.secondary:
        return False
    said = (diagnostic.code, diagnostic.why, diagnostic.help)
    return any((other.code, other.why, other.help) == said for other in explained)


def render_repeated(diagnostics: Sequence[Diagnostic], *, colour: bool, unicode: bool, width: int) -> str:
    """Warnings that repeat what was explained before: of each code how many there are, and the first few in a line."""
    style, blocks = Style(colour=colour, unicode=unicode, width=max(width, 40)), []
    for first, others in _folded(diagnostics):
        every = [first, *others]
        title = f"found {len(every)} more time{'s' if others else ''}, for the reason explained above"
        gutter = Gutter.of([each.primary.span for each in every if each.primary is not None], style)
        lines = [*_heading(first, style, title), *_also(every, gutter)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """For example ``2 errors, 1 warning``."""
    counts = {severity: sum(d.severity is severity for d in diagnostics) for severity in Severity}
    return ", ".join(
        f"{count} {severity.value}{'s' if count > 1 else ''}" for severity, count in counts.items() if count
    )


def _folded(diagnostics: Sequence[Diagnostic]) -> Iterator[tuple[Diagnostic, list[Diagnostic]]]:
    """Each error; each first warning of a code together with the others of that code."""
    shown: set[str] = set()
    for diagnostic in diagnostics:
        if diagnostic.severity is Severity.ERROR:
            yield diagnostic, []
        elif diagnostic.code not in shown:
            shown.add(diagnostic.code)
            same = [other for other in diagnostics if other.code == diagnostic.code]
            yield diagnostic, [other for other in same if other is not diagnostic]


def _block(diagnostic: Diagnostic, folded: Sequence[Diagnostic], style: Style) -> Iterator[str]:
    """All lines of one diagnostic."""
    labels = _signed(diagnostic)
    edits = [diagnostic.fix.span] if diagnostic.fix else []
    gutter = Gutter.of([*(label.span for label, _, _ in labels), *edits], style)
    yield from _heading(diagnostic, style, diagnostic.title)
    yield from _places(labels, gutter)
    for key, text in (("why", diagnostic.why), ("help", diagnostic.help)):
        if key == "help":
            for note in diagnostic.notes:
                yield from _note("", note, gutter)
        if text:
            yield from _note(key, text, gutter)
    if diagnostic.fix is not None:
        if diagnostic.help is None:
            yield from _note("help", "write instead", gutter)
        yield from _replacement(diagnostic.fix, gutter)
    yield from _also(folded, gutter)


def _heading(diagnostic: Diagnostic, style: Style, title: str) -> Iterator[str]:
    kind = f"{diagnostic.severity.value}[{diagnostic.code}]"
    lines = wrap(f"{kind}: {style.shown(title)}", style.width, indent="  ")
    paint = _PAINTS[diagnostic.severity]
    for number, line in enumerate(lines):
        if number:
            yield style.paint(line, Paint.BOLD)
        else:
            yield style.paint(kind, paint) + style.paint(line.removeprefix(kind), Paint.BOLD)


def _signed(diagnostic: Diagnostic) -> list[tuple[Label, Paint, str]]:
    """The labels, the primary one first, each with colour and sign."""
    signed = [(label, Paint.SECONDARY, "-") for label in diagnostic.secondary]
    if diagnostic.primary is not None:
        signed.insert(0, (diagnostic.primary, _PAINTS[diagnostic.severity], "^"))
    return signed


def _places(labels: Sequence[tuple[Label, Paint, str]], gutter: Gutter) -> Iterator[str]:
    """The excerpts, file by file: the primary label's first."""
    by_file: dict[SourceFile, list[tuple[Label, Paint, str]]] = {}
    for entry in labels:
        by_file.setdefault(entry[0].span.file, []).append(entry)
    for number, (file, entries) in enumerate(by_file.items()):
        if number:
            yield gutter.plain()
        place = _place(entries[0][0].span, gutter.style)
        yield gutter.arrow(":::" if number else "-->", place)
        if not number:
            yield gutter.plain()
        yield from excerpt(entries, gutter, file)


def _place(span: Span, style: Style) -> str:
    first = span.first
    return f"{style.shown(span.file.path)}:{first.line}:{first.column}"


def _note(key: str, text: str, gutter: Gutter) -> Iterator[str]:
    """``= key: text``, wrapped under itself."""
    style = gutter.style
    lead = gutter.width + 3 + (len(key) + 2 if key else 0)
    paragraphs = "\n".join(style.shown(line) for line in text.split("\n"))
    # A note may align two columns ("smt    no ..."): what wraps goes a little further in.
    hanging = "" if key else "  "
    lines = list(wrap(paragraphs, max(20, style.width - lead), indent=hanging))
    yield gutter.note(key, lines[0])
    yield from (" " * lead + line for line in lines[1:])


def _replacement(fix: Edit, gutter: Gutter) -> Iterator[str]:
    """The lines as they are after the edit, the new part underlined."""
    file, first, last = fix.span.file, fix.span.first, fix.span.last
    before = file.line(first.line)[: first.column - 1]
    after = file.line(last.line)[last.column - 1 :]
    style = gutter.style
    yield gutter.plain()
    mended = (before + fix.replacement + after).rstrip("\n").split("\n")
    start = display_width(style.shown(before))
    for offset, line in enumerate(mended[:_FIX_LINES]):
        yield gutter.numbered(first.line + offset, style.shown(line))
    if len(mended) > _FIX_LINES:
        yield gutter.elided()
    elif len(mended) == 1 and fix.replacement:
        sign = "~" if fix.span.start < fix.span.end else "+"
        signs = sign * display_width(style.shown(fix.replacement))
        yield gutter.plain(" " * start + style.paint(signs, Paint.GOOD))


def _also(folded: Sequence[Diagnostic], gutter: Gutter) -> Iterator[str]:
    """The other warnings of the same kind, in a line each; beyond three only their number."""
    for other in folded[:_NAMED]:
        place = f"{_place(other.primary.span, gutter.style)}: " if other.primary else ""
        yield from _note("also", place + other.title, gutter)
    if len(folded) > _NAMED:
        yield from _note("also", f"{len(folded) - _NAMED} more of the same kind", gutter)
