"""Findings as the editor shows them, where they belong, and the quick fixes that they bring along."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from lsprotocol import types

from fairdsl.diagnostics import Diagnostic, Severity
from fairdsl.lsp.desk import Desk, Seen
from fairdsl.lsp.places import uri_of
from fairdsl.resources import error_page
from fairdsl.source import Span

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}
#: What nobody refers to; an editor shows it in grey.
_UNUSED = "W0801"


def by_file(desk: Desk, seen: Seen) -> Mapping[str, tuple[types.Diagnostic, ...]]:
    """The findings about a spec by the path of the file that each is about, the spec's own always among them."""
    found: defaultdict[str, list[types.Diagnostic]] = defaultdict(list, {seen.path: []})
    for finding in seen.findings:
        place = _place(finding, seen)
        found[seen.path if place is None else place.file.path].append(_shown(desk, finding, place))
    return {path: tuple(each) for path, each in found.items()}


def fixes_at(desk: Desk, seen: Seen, wanted: types.Range) -> Iterator[types.CodeAction]:
    """The mending edits of findings that touch a range of the spec's own text."""
    places = desk.places(seen.path)
    first, last = places.offset(wanted.start), places.offset(wanted.end)
    for finding in seen.findings:
        place = _place(finding, seen)
        if finding.fix is None or place is None or place.file.path != seen.path:
            continue
        if place.end < first or place.start > last:
            continue
        edit, where = finding.fix, desk.location(finding.fix.span)
        yield types.CodeAction(
            title=_does(edit.span.text, edit.replacement),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[_shown(desk, finding, place)],
            is_preferred=True,
            edit=types.WorkspaceEdit(changes={where.uri: [types.TextEdit(where.range, edit.replacement)]}),
        )


def _does(before: str, after: str) -> str:
    if not after.strip():
        return f"remove `{before.strip()}`"
    return f"insert `{after.strip()}`" if not before.strip() else f"write `{after.strip()}` for `{before.strip()}`"


def _place(finding: Diagnostic, seen: Seen) -> Span | None:
    """Where it is; None where that is no place of a file that the editor could open, as in a preset."""
    if finding.primary is None or finding.primary.span.file.path not in seen.files:
        return None
    return finding.primary.span


def _shown(desk: Desk, finding: Diagnostic, place: Span | None) -> types.Diagnostic:
    top = types.Range(types.Position(0, 0), types.Position(0, 0))
    page = error_page(finding.code)
    return types.Diagnostic(
        range=top if place is None else desk.location(place).range,
        message="\n".join(_message(finding)),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(uri_of(str(page))) if page.is_file() else None,
        source="fairdsl",
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == _UNUSED else None,
        related_information=list(_related(desk, finding)) or None,
    )


def _message(finding: Diagnostic) -> Iterable[str]:
    """What the terminal says, without the lines of the text."""
    yield finding.title
    if finding.primary is not None and finding.primary.text:
        yield finding.primary.text
    yield from finding.notes
    if finding.why:
        yield f"why: {finding.why}"
    if finding.help:
        yield f"help: {finding.help}"


def _related(desk: Desk, finding: Diagnostic) -> Iterator[types.DiagnosticRelatedInformation]:
    for label in finding.secondary:
        if label.span.file.path.startswith("/") or label.span.file.path in desk.opened:
            yield types.DiagnosticRelatedInformation(desk.location(label.span), label.text or finding.title)
