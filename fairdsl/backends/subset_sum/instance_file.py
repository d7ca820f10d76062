"""Instances as files, schema ``fairdsl.subset-sum/1`` (docs/subset-sum.md): written exactly, read strictly.

What a law must satisfy for its masses to be probabilities is checked when it is read: conditional probabilities sum
to 1 (or are all 0, where nothing is known of a combination), no column depends on itself, and every column has a law.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairdsl.backends.solved import Asked
from fairdsl.backends.subset_sum import errors
from fairdsl.backends.subset_sum.document import MalformedError, Node, document_of, exact
from fairdsl.backends.subset_sum.instance import Instance
from fairdsl.backends.subset_sum.law_file import law_from, law_written
from fairdsl.backends.subset_sum.question_file import (
    population_from,
    population_written,
    question_from,
    question_written,
    threshold_from,
    threshold_written,
)
from fairdsl.backends.subset_sum.subject import Event
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.ir.population import Network
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.metrics.joint import Counted, Key, columns_of, keys_of
from fairdsl.source.reading import content_of

__all__ = ["SCHEMA", "pack_instance", "read_instance"]

SCHEMA = "fairdsl.subset-sum/1"

#: A score is turned so that it has to reach its threshold.
_RELATIONS = (Relation.GE, Relation.GT, Relation.EQ, Relation.NE)
_REQUIRED = ("schema", "question", "event", "laws")
_OPTIONAL = ("sha256", "asked", "threshold", "population", "rows")


def pack_instance(instance: Instance) -> bytes:
    """The file; the same instance gives the same bytes."""
    names = [column.name for column in instance.population.columns]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "asked": None if instance.asked is None else _asked_written(instance.asked),
        "question": question_written(instance.question, names),
        "threshold": threshold_written(instance.threshold),
        "population": population_written(instance.population),
        "rows": [
            {"key": [exact(value) for value in key], "rows": found.rows, "least": found.least, "most": found.most}
            for key, found in sorted(instance.counts.items())
        ],
        "event": _event_written(instance.event),
        "laws": [law_written(law, names, columns_of(instance.question, instance.population)) for law in instance.laws],
    }
    document["sha256"] = _seal(document)
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def read_instance(path: Path) -> Instance:
    """An instance from its file. DiagnosticError for a file that is none, has mistakes, or was altered."""
    try:
        document = document_of(content_of(path))
        _check_schema(document)
        members = document.fields(_REQUIRED, _OPTIONAL)
        if "sha256" in members and members["sha256"].text() != _seal(document.value):
            raise DiagnosticError(errors.altered(str(path)))
        if "asked" in members and "sha256" not in members:
            members["asked"].refuse("only the `sha256` of the file vouches for it, and that is missing")
        return _instance(members)
    except MalformedError as error:
        raise DiagnosticError(errors.unreadable(str(path), error.place, error.what)) from error


def _check_schema(document: Node) -> None:
    found = document.value.get("schema") if isinstance(document.value, dict) else None
    if found == SCHEMA:
        return
    if isinstance(found, str) and found.startswith(SCHEMA.partition("/")[0] + "/"):
        document.refuse(f"it follows `{found}`, of another fairdsl; this one reads `{SCHEMA}`")
    document.refuse(f"its schema is {f'`{found}`' if isinstance(found, str) else 'not said'}, not `{SCHEMA}`")


def _seal(document: Mapping[str, Any]) -> str:
    """The sha256 of everything but itself."""
    content = {name: value for name, value in document.items() if name != "sha256"}
    return sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def _instance(members: Mapping[str, Node]) -> Instance:
    population = population_from(members.get("population"))
    question = question_from(members["question"], population)
    event = _event(members["event"])
    names = [column.name for column in population.columns]
    keys = columns_of(question, population)
    laws = members["laws"].items()
    if len(laws) != (2 if question.influence else 1):
        members["laws"].refuse("there is one law, and a second one, without it, for an influence")
    return Instance(
        question=question,
        population=population,
        threshold=threshold_from(members.get("threshold")),
        event=event,
        laws=tuple(law_from(law, names, keys, population, free=question.metric.rate.along_paths) for law in laws),
        counts=_counts(members.get("rows"), question, population),
        asked=_asked(members.get("asked"), threshold_from(members.get("threshold"))),
    )


def _event_written(event: Event) -> dict[str, Any]:
    relation = {"relation": event.relation.value}
    if event.low == event.high:
        return relation | {"threshold": exact(event.low)}
    return relation | {"above": exact(event.low), "below": exact(event.high)}


def _event(node: Node) -> Event:
    """The threshold, or the two numbers that it lies strictly between."""
    found = node.fields(("relation",), ("threshold", "above", "below"))
    known = {relation.value: relation for relation in _RELATIONS}
    relation = known.get(found["relation"].text())
    if relation is None:
        found["relation"].refuse(f"one of {', '.join(known)} belongs here; of `<` write the negated score with `>`")
    if "threshold" in found and len(found) == 2:
        value = found["threshold"].number()
        return Event(relation=relation, low=value, high=value)
    if "threshold" in found or len(found) < 3:
        node.refuse("it has either a `threshold`, or the numbers `above` and `below` which it lies")
    low, high = found["above"].number(), found["below"].number()
    if low >= high:
        node.refuse("nothing lies between `above` and `below`")
    return Event(relation=relation, low=low, high=high)


def _counts(node: Node | None, question: GroupMetric, population: Network) -> dict[Key, Counted]:
    counts: dict[Key, Counted] = {}
    known = frozenset(keys_of(question, population))
    for item in [] if node is None else node.items():
        found = item.fields(("key", "rows", "least", "most"))
        key = found["key"].numbers()
        if key not in known or key in counts:
            item.refuse("its key is that of no group, or of an earlier one")
        rows, least, most = (found[name].count() for name in ("rows", "least", "most"))
        if not least <= most <= rows:
            item.refuse("the favoured are a part of the rows")
        counts[key] = Counted(rows=rows, least=least, most=most)
    return counts


def _asked_written(asked: Asked) -> dict[str, Any]:
    """Everything but the threshold, which stands by itself."""
    written = asdict(asked) | {"clauses": list(asked.clauses)}
    del written["threshold"]
    return written


_WORDS = ("spec", "spec_sha256", "model", "property", "sentence", "formula", "demand", "metric")
_PERHAPS = ("title", "model_path", "model_sha256")


def _asked(node: Node | None, threshold: Threshold | None) -> Asked | None:
    if node is None:
        return None
    found = node.fields((*_WORDS, "clauses", "required"), _PERHAPS)
    assert {*_WORDS, *_PERHAPS, "clauses", "required", "threshold"} == {field.name for field in fields(Asked)}
    words: dict[str, Any] = {name: found[name].text() for name in _WORDS}
    words |= {name: found[name].text() if name in found else None for name in _PERHAPS}
    return Asked(
        **words,
        clauses=found["clauses"].texts(),
        required=found["required"].flag(),
        threshold=threshold,
    )
