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

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, ClassVar

from fairdsl.codec import FILLED, MisfitError, Place, decode, located, source_of, standing_at
from fairdsl.codec.placed import PlacedText, PlacedValue, read_placed
from fairdsl.codec.text import plain_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import FileSource
from fairdsl.models import errors
from fairdsl.models.which_file import check_pinned
from fairdsl.source import SourceFile, Span
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of


class _Keys:
    """What other programs call the same keys."""

    __slots__ = ()

    CALLED_ELSEWHERE: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
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
    )


@dataclass(frozen=True, slots=True)
class _Rule(_Keys):
    if_: str
    then: str


@dataclass(frozen=True, slots=True)
class _RuleList(_Keys):
    rules: Annotated[tuple[_Rule, ...], FILLED]
    otherwise: str


_Groups = Annotated[tuple[Annotated[tuple[str, ...], FILLED], ...], FILLED]


@dataclass(frozen=True, slots=True)
class _Dnf(_Keys):
    dnf: _Groups
    then: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class _Cnf(_Keys):
    cnf: _Groups
    then: str
    otherwise: str


_Written = _RuleList | _Dnf | _Cnf
#: What a document is, by the key that says so.
FORMS: Mapping[str, type[_Written]] = MappingProxyType({"rules": _RuleList, "dnf": _Dnf, "cnf": _Cnf})


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


def holds_rules(source: FileSource, path: str) -> bool:
    """Whether a file is a document of rules: the spec says so, or it ends in ``.json`` and has the keys of one.

    A file that cannot be read, or is not JSON, is none; whoever opens it says what is wrong with it.
    """
    if source.format is not None or Path(path).suffix.lower() != ".json":
        return source.format == "rules"
    try:
        document = read_json(content_of(path), parse_int=str)
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and any(form in document for form in FORMS)


def read_rules(source: FileSource, path: str) -> RulesDocument:
    """Read the document at ``path``, which is the spec's own or replaces it; raises DiagnosticError (E0501, 07, 15)."""
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), source.span)) from problem
    digest = sha256(content).hexdigest()
    check_pinned(source, path, digest, replaced=path != source.path)
    try:
        file = source_of(content, path)
        return _document(decode(_form(file), file), read_placed(file), digest)
    except MisfitError as misfit:
        raise DiagnosticError(errors.rules_document(path, misfit.said, misfit.span, source.span)) from misfit


def _form(file: SourceFile) -> type[_Written]:
    """Of which form the document is; MisfitError for none, and for two."""
    document = plain_of(file)
    found = [form for form in document if form in FORMS] if isinstance(document, dict) else []
    if not found:
        raise located(Place().misfit("has none of the keys `rules`, `dnf` and `cnf`"), file)
    if len(found) > 1:
        raise located(Place((found[1],)).unread(f"cannot decide beside `{found[0]}`"), file)
    return FORMS[found[0]]


def _document(written: _Written, placed: PlacedValue, digest: str) -> RulesDocument:
    """The same rules, every text with its place."""

    def text(*steps: str | int) -> PlacedText:
        found = standing_at(placed, steps)
        assert isinstance(found, PlacedText), "it was decoded as text"
        return found

    match written:
        case _RuleList(rules=rules):
            found = [
                DocumentRule(
                    groups=((text("rules", number, "if"),),),
                    some_group=True,
                    outcome=text("rules", number, "then"),
                    span=standing_at(placed, ("rules", number)).span,
                )
                for number in range(len(rules))
            ]
        case _Dnf(dnf=groups) | _Cnf(cnf=groups):
            form = "dnf" if isinstance(written, _Dnf) else "cnf"
            conditions = tuple(
                tuple(text(form, number, place) for place in range(len(group))) for number, group in enumerate(groups)
            )
            span = standing_at(placed, (form,)).span
            found = [DocumentRule(groups=conditions, some_group=form == "dnf", outcome=text("then"), span=span)]
    return RulesDocument(tuple(found), text("otherwise"), digest, placed.span)
