"""A report as annotations of GitHub: commands in the log of a workflow, which appear beside the lines of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from fairdsl.diagnostics import Diagnostic, Severity
from fairdsl.diagnostics.style import shown
from fairdsl.report.sheet import PropertySheet, Sheet
from fairdsl.source import Span
from fairdsl.verdict import Judgement

_LEVELS = {
    Judgement.VIOLATED: "error",
    Judgement.REFUSED: "error",
    Judgement.UNKNOWN: "warning",
    Judgement.VACUOUS: "warning",
    Judgement.MEASURED: "notice",
}


def github(sheet: Sheet) -> str:
    """A line for each demand that does not simply hold, and for each finding."""
    lines = [line for item in sheet.properties for line in _property(item, sheet.files[0].place)]
    return "".join(f"{line}\n" for line in (*lines, *map(_finding, sheet.findings)))


def _property(item: PropertySheet, spec: str) -> Iterator[str]:
    for demand in item.demands:
        if demand.judgement in _LEVELS or demand.against:
            text = " ".join(one for one in (demand.plain, demand.resting, *demand.against) if one)
            title = f"{item.name}: {demand.judgement.value}" + (", contradicted" if demand.against else "")
            level = "error" if demand.against else _LEVELS[demand.judgement]
            yield _command(level, demand.span or item.span, title, text, spec)


def _finding(finding: Diagnostic) -> str:
    level = "error" if finding.severity is Severity.ERROR else "warning"
    text = ". ".join(text for text in (finding.title, finding.why, finding.help) if text)
    return _command(level, None if finding.primary is None else finding.primary.span, finding.code, text, None)


def _command(level: str, span: Span | None, title: str, text: str, spec: str | None) -> str:
    place: dict[str, str] = {} if spec is None else {"file": spec}
    if span is not None:
        place = {"file": span.file.path, "line": str(span.first.line), "col": str(span.first.column)}
        if span.first.line == span.last.line:
            place["endColumn"] = str(span.last.column)
        else:
            place["endLine"] = str(span.last.line)
    said = ",".join(f"{key}={_value(value)}" for key, value in (place | {"title": title}).items())
    return f"::{level} {said}::{_escaped(text)}"


def _escaped(text: str) -> str:
    """Text that ends no command and begins none."""
    return shown(" ".join(text.splitlines())).replace("%", "%25")


def _value(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
