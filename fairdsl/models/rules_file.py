"""Documents of rules: JSON that says in the language's own conditions whom a model gives which outcome.

A document is an object of one of three forms::

    {"rules": [{"if": "priors > 3", "then": "detain"}, ...], "otherwise": "release"}
    {"dnf": [["age >= 45", "charge = felony"], ["priors > 3"]], "then": "detain", "otherwise": "release"}
    {"cnf": [["age >= 45", "charge = felony"], ["priors > 3"]], "then": "detain", "otherwise": "release"}

Of ``rules`` the first whose condition holds decides. ``dnf`` holds where *some* inner list has all of its conditions,
``cnf`` where *each* inner list has one of them. Lists are never empty, every key is there once, and any other key is an
error: a ``default`` that nobody reads would be another model. Conditions are kept as they are written here; what
they mean is known once the domain is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fairdsl.codec.placed import NotReadError, PlacedList, PlacedObject, PlacedText, PlacedValue, read_placed
from fairdsl.diagnostics import DiagnosticError, nearest
from fairdsl.ir.declaration import FileSource
from fairdsl.models import errors
from fairdsl.models.pinned import check_pinned
from fairdsl.source import SourceFile, Span
from fairdsl.source.reading import content_of

__all__ = ["DocumentRule", "RulesDocument", "holds_rules", "read_rules"]

_FORMS = ("rules", "dnf", "cnf")
#: What other programs call the same things.
_FOREIGN = {
    "else": "otherwise",
    "default": "otherwise",
    "when": "if",
    "condition": "if",
    "outcome": "then",
    "decision": "then",
    "class": "then",
    "list": "rules",
    "clauses": "cnf",
    "terms": "dnf",
}


@dataclass(frozen=True, slots=True)
class DocumentRule:
    """Conditions in groups, and the outcome that they lead to.

    ``some_group``: one group must hold and has all its conditions (a dnf); otherwise each group must hold and has one
    of them (a cnf). A single condition is one group of one. ``span`` is the whole rule.
    """

    groups: tuple[tuple[PlacedText, ...], ...]
    some_group: bool
    outcome: PlacedText
    span: Span


@dataclass(frozen=True, slots=True)
class RulesDocument:
    """The rules in their order, at least one; ``span`` is the document and ``sha256`` the digest of the file."""

    rules: tuple[DocumentRule, ...]
    otherwise: PlacedText
    sha256: str
    span: Span


class _DocumentError(Exception):
    """What is wrong with a place of the document, and what to write where that is more than the usual form."""

    def __init__(self, reason: str, span: Span, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.span = span
        self.remedy = remedy


def holds_rules(source: FileSource, path: str) -> bool:
    """Whether a file is a document of rules: the spec says so, or it ends in ``.json`` and has the keys of one.

    A file that cannot be read, or is no JSON, is none; whoever opens it says what is wrong with it.
    """
    if source.format is not None or Path(path).suffix.lower() != ".json":
        return source.format == "rules"
    try:
        document = json.loads(content_of(path), parse_int=str)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and any(form in document for form in _FORMS)


def read_rules(source: FileSource, path: str) -> RulesDocument:
    """Read the document at ``path``, which is the spec's own or replaces it; raises DiagnosticError (E0501, 07, 15)."""
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), source.span)) from problem
    digest = sha256(content).hexdigest()
    check_pinned(source, path, digest, replaced=path != source.path)
    try:
        file = SourceFile(path, content.decode("utf-8-sig"), digest)
    except UnicodeDecodeError as problem:
        raise DiagnosticError(errors.rules_document(path, "it is not UTF-8 text", source.span, None)) from problem
    try:
        return _document(read_placed(file), digest)
    except NotReadError as problem:
        raise DiagnosticError(errors.rules_document(path, str(problem), problem.span, source.span)) from problem
    except _DocumentError as problem:
        found = errors.rules_document(path, str(problem), problem.span, source.span, problem.remedy)
        raise DiagnosticError(found) from problem


def _document(value: PlacedValue, digest: str) -> RulesDocument:
    if not isinstance(value, PlacedObject):
        raise _DocumentError("it is not an object `{...}`", value.span)
    forms = [key for key, _ in value.entries if key.value in _FORMS]
    if not forms:
        raise _DocumentError("it has none of `rules`, `dnf` and `cnf`", value.span)
    if forms[-1].value != forms[0].value:
        raise _DocumentError(f"`{forms[0].value}` and `{forms[-1].value}` cannot both decide", forms[-1].span)
    form = forms[0].value
    keys = ("rules", "otherwise") if form == "rules" else (form, "then", "otherwise")
    entries = _entries(value, keys)
    if form == "rules":
        rules = tuple(_rule(item) for item in _filled(entries["rules"], "a list of rules").items)
    else:
        groups = tuple(_group(item) for item in _filled(entries[form], "a list of lists of conditions").items)
        outcome = _text(entries["then"], "an outcome")
        rules = (DocumentRule(groups, form == "dnf", outcome, entries[form].span),)
    return RulesDocument(rules, _text(entries["otherwise"], "an outcome"), digest, value.span)


def _rule(value: PlacedValue) -> DocumentRule:
    if not isinstance(value, PlacedObject):
        raise _DocumentError("a rule is an object with `if` and `then`", value.span)
    entries = _entries(value, ("if", "then"))
    condition, outcome = _text(entries["if"], "a condition"), _text(entries["then"], "an outcome")
    return DocumentRule(((condition,),), True, outcome, value.span)


def _group(value: PlacedValue) -> tuple[PlacedText, ...]:
    return tuple(_text(item, "a condition") for item in _filled(value, "a list of conditions").items)


def _filled(value: PlacedValue, what: str) -> PlacedList:
    if not isinstance(value, PlacedList):
        raise _DocumentError(f"here belongs {what}", value.span)
    if not value.items:
        raise _DocumentError(f"here belongs {what}, and it is empty", value.span)
    return value


def _text(value: PlacedValue, what: str) -> PlacedText:
    if not isinstance(value, PlacedText):
        raise _DocumentError(f"{what} is a text in quotes", value.span)
    return value


def _entries(value: PlacedObject, keys: tuple[str, ...]) -> Mapping[str, PlacedValue]:
    """The values by key: each of the keys once, and no other."""
    found: dict[str, PlacedValue] = {}
    for key, entry in value.entries:
        if key.value not in keys:
            raise _DocumentError(f"nothing reads the key `{key.value}`", key.span, _instead(key.value, keys))
        if key.value in found:
            raise _DocumentError(f"`{key.value}` is given twice", key.span)
        found[key.value] = entry
    missing = next((key for key in keys if key not in found), None)
    if missing is not None:
        raise _DocumentError(f"`{missing}` is missing", value.span)
    return found


def _instead(unknown: str, keys: tuple[str, ...]) -> str:
    guess = _FOREIGN.get(unknown.casefold())
    guess = guess if guess in keys else nearest(unknown, keys)
    listed = ", ".join(f"`{key}`" for key in keys)
    return f"did you mean `{guess}`? keys that are read here: {listed}" if guess else f"keys that are read: {listed}"
