"""The process in which a check runs, so that it can be watched, and ended at any moment.

It reads one JSON object from its standard input: the path of the ``spec``, the ``held`` texts by path, the
``properties`` (empty: all), ``timeout`` in seconds, and the rules of reading, ``root`` and ``largest``. It writes a
JSON object a line: progress, and at last either the ``verdicts``, in the words of reports, with the files that were
opened, or the ``failure``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fairdsl.api.specs import check
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.layout import sheet_of
from fairdsl.report.sheet import DemandSheet, Pair, PropertySheet
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import Noted, holding, noting, reading


class _Telling:
    """An observer that writes what it hears."""

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        _tell({"stage": stage, "fraction": fraction, "detail": detail})


def _tell(said: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Check what standard input says."""
    asked = read_json(sys.stdin.read())
    held = {path: text.encode("utf-8", "surrogatepass") for path, text in asked["held"].items()}
    with reading(root=asked["root"], largest=asked["largest"]), holding(held), noting() as notes:
        try:
            report = check(asked["spec"], properties=asked["properties"], timeout=asked["timeout"], observer=_Telling())
        except DiagnosticError as error:
            _tell({"failure": str(error)})
            return
        verdicts = [_property(item) for item in sheet_of(report).properties]
        _tell({"verdicts": verdicts, "opened": [_noted(each) for each in notes]})


def _property(item: PropertySheet) -> dict[str, Any]:
    """What became of a property; the pair is of the lines that need one, each said once."""
    pairs = [block for block in item.blocks if isinstance(block, Pair)]
    return {
        "name": item.name,
        "judgement": item.judgement.value,
        "demands": [_demand(each) for each in item.demands],
        "pairs": [_pair(each) for each in pairs],
    }


def _demand(each: DemandSheet) -> dict[str, Any]:
    blocks = [block for block in each.blocks if isinstance(block, Pair)]
    return {
        "text": each.text,
        "judgement": each.judgement.value,
        "plain": each.plain,
        "resting": each.resting,
        "outcome": each.outcome,
        "file": each.span.file.path if each.span else None,
        "end": each.span.end if each.span else None,
        "pairs": [_pair(block) for block in blocks],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "names": list(pair.names),
        "rows": [[row.name, row.a, row.b] for row in pair.rows],
        "both": list(pair.both),
        "found_for": list(pair.found_for),
    }


def _noted(each: Noted) -> list[Any]:
    return [each.path, list(each.stamp)]


if __name__ == "__main__":
    main()
