"""Whether the texts that fill a file's inputs are those that the file knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Category, Domain
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.models.basis import Lookup
from fairdsl.models.binding import errors
from fairdsl.models.graph import ImportedGraph
from fairdsl.source import Span


def unknown_texts(graph: ImportedGraph, forms: Sequence[Form], domain: Domain, span: Span) -> Iterator[Diagnostic]:
    """A finding for each attribute of whose values the file looks some up in vain (E0521, W0710).

    Where it has none of them, or one in another spelling, names were mixed up. A value that it lacks otherwise may be
    one that nobody in its training data had.
    """
    said: set[tuple[str, frozenset[str]]] = set()
    for lookup in graph.basis.lookups:
        ((item, _),) = forms[lookup.place].terms
        assert isinstance(item, AttributeInput)
        attribute = domain.attributes[item.attribute]
        assert isinstance(attribute.type, Category)
        names = {value.code: value.name for value in attribute.type.values if value.code != attribute.missing}
        unknown = [name for code, name in names.items() if lookup.texts[code] not in lookup.known]
        if not unknown or (attribute.name, frozenset(unknown)) in said:
            continue
        said.add((attribute.name, frozenset(unknown)))
        known, near = sorted(lookup.known), _another_spelling(lookup, names)
        if near is not None or len(unknown) == len(names):
            yield errors.texts_misnamed(graph.path, attribute.name, unknown, known, near, span)
        else:
            yield errors.texts_unknown(graph.path, attribute.name, unknown, known, span)


def _another_spelling(lookup: Lookup, codes: Iterable[int]) -> str | None:
    """A text of the file that is no value, and that a value it lacks differs from by blanks or capitals alone."""
    given = {lookup.texts[code] for code in codes}
    lacking = {_plain(text) for text in given - lookup.known}
    return next((text for text in sorted(lookup.known - given) if _plain(text) in lacking), None)


def _plain(text: str) -> str:
    return text.strip().casefold()
