"""A report as SARIF 2.1.0, for code scanning: a rule for each metric and code, a result for each demand and finding.

A result's fingerprint is made of what is asked (property, metric, the demand's text), never of lines or numbers, so it
stays the same while a spec is edited around it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from fairdsl.diagnostics import CODES, Diagnostic, Label, Severity
from fairdsl.report.sheet import DemandSheet, PropertySheet, Sheet
from fairdsl.source import Span
from fairdsl.verdict import Judgement

_Json = dict[str, Any]
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: How bad what has to be looked at is. What holds or is only measured is not a result: code scanning takes every result
#: for a problem, whatever its kind.
_LEVELS = {
    Judgement.VIOLATED: "error",
    Judgement.REFUSED: "error",
    Judgement.UNKNOWN: "warning",
    Judgement.VACUOUS: "warning",
}


def sarif(sheet: Sheet) -> str:
    """The log of one run."""
    spec = sheet.files[0].place
    results = [*_demands(sheet), *(_finding(finding, spec) for finding in sheet.findings)]
    rules = {result["ruleId"]: rule for result, rule in results}
    order = {name: place for place, name in enumerate(rules)}
    told = [result | {"ruleIndex": order[result["ruleId"]]} for result, _ in results]
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "fairdsl",
                        "version": dict(sheet.made).get("fairdsl", ""),
                        "rules": list(rules.values()),
                    }
                },
                "columnKind": "unicodeCodePoints",
                "artifacts": _artifacts(sheet),
                "results": told,
                "properties": {
                    "exitCode": sheet.exit_code.value,
                    "meaning": sheet.meaning,
                    "fine": [
                        f"{item.name}: {demand.plain}"
                        for item in sheet.properties
                        for demand in item.demands
                        if not _level(demand)
                    ],
                },
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _artifacts(sheet: Sheet) -> list[_Json]:
    """Every file once, with its digest."""
    files = {file.place: file for file in sheet.files if file.sha256}
    return [
        {"location": {"uri": _uri(place)}, "hashes": {"sha-256": file.sha256}, "description": {"text": file.kind}}
        for place, file in files.items()
    ]


def _level(demand: DemandSheet) -> str | None:
    """How bad it is; None where it is fine."""
    return "error" if demand.against else _LEVELS.get(demand.judgement)


def _demands(sheet: Sheet) -> Iterator[tuple[_Json, _Json]]:
    spec, *others = sheet.files
    related = [_related(file.place, f"the {file.kind} {file.name}") for file in others if file.sha256]
    for item in sheet.properties:
        for demand in (demand for demand in item.demands if _level(demand)):
            rule = _rule(demand.metric, demand.words, demand.meaning or demand.text)
            yield _result(spec.place, item, demand, related), rule


def _result(spec: str, item: PropertySheet, demand: DemandSheet, related: list[_Json]) -> _Json:
    place = _location(demand.span) if demand.span is not None else {"physicalLocation": _file(spec)}
    name = {"fullyQualifiedName": item.name, "name": item.name, "kind": "property"}
    places = list(related)
    if item.span is not None:
        places.insert(0, _location(item.span) | {"message": {"text": f"the property {item.name}"}})
    worth = [kind.word for kind in demand.standings]
    said = (f"{item.name}: {demand.plain}", demand.resting, *demand.against)
    return {
        "ruleId": demand.metric,
        "level": _level(demand),
        "message": {"text": " ".join(text for text in said if text)},
        "locations": [place | {"logicalLocations": [name]}],
        "relatedLocations": [one | {"id": number} for number, one in enumerate(places, start=1)],
        "partialFingerprints": {"fairdslDemand/v1": _digest(item.name, demand.metric, " ".join(demand.text.split()))},
        "properties": {"judgement": demand.judgement.value, "worth": worth, "claim": demand.claim},
    }


def _finding(finding: Diagnostic, spec: str) -> tuple[_Json, _Json]:
    place = finding.primary
    result: _Json = {
        "ruleId": finding.code,
        "level": finding.severity.value,
        "message": {"text": ". ".join(text for text in (finding.title, finding.why, finding.help) if text)},
        "partialFingerprints": {"fairdslFinding/v1": _digest(finding.code, finding.title)},
    }
    if place is None:
        result["locations"] = [{"physicalLocation": _file(spec)}]
    else:
        result["locations"] = [_labelled(place)]
        result["relatedLocations"] = [
            _labelled(label) | {"id": number} for number, label in enumerate(finding.secondary, start=1)
        ]
    level = "error" if finding.severity is Severity.ERROR else "warning"
    rule = _rule(finding.code, CODES[finding.code], CODES[finding.code])
    return result, rule | {"defaultConfiguration": {"level": level}}


def _rule(name: str, title: str, text: str) -> _Json:
    return {"id": name, "shortDescription": {"text": title}, "fullDescription": {"text": text}}


def _labelled(label: Label) -> _Json:
    return _location(label.span) | ({"message": {"text": label.text}} if label.text else {})


def _related(place: str, text: str) -> _Json:
    return {"physicalLocation": _file(place), "message": {"text": text}}


def _file(place: str) -> _Json:
    return {"artifactLocation": {"uri": _uri(place)}}


def _location(span: Span) -> _Json:
    first, last = span.first, span.last
    region = {
        "startLine": first.line,
        "startColumn": first.column,
        "endLine": last.line,
        "endColumn": last.column,
    }
    return {"physicalLocation": _file(span.file.path) | {"region": region}}


def _uri(place: str) -> str:
    path = PurePath(place)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
