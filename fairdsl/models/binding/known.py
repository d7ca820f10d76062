"""Whether the names or codes that fill a file's inputs are those that the file knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Attribute, Boolean, Category, Domain
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.models.binding import errors
from fairdsl.models.graph import ImportedGraph
from fairdsl.source import Span
from fairdsl.source.names import unspelled, value_text


def unknown_values(graph: ImportedGraph, forms: Sequence[Form], domain: Domain, span: Span) -> Iterator[Diagnostic]:
    """A finding for each attribute of whose values the file looks some up in vain (E0521, W0710).

    Where it has none of them, or one in another spelling, names were mixed up. A value that it lacks otherwise may be
    one that nobody in its training data had.
    """
    said: set[tuple[str, frozenset[int]]] = set()
    for lookup in graph.basis.lookups:
        attribute = _alone(forms[lookup.place], domain)
        names = {} if attribute is None else _names(attribute)
        given = {code: code if lookup.texts is None else lookup.texts[code] for code in names}
        unknown = frozenset(code for code in names if given[code] not in lookup.known)
        if attribute is None or not unknown or (attribute.name, unknown) in said:
            continue
        said.add((attribute.name, unknown))
        shown = [value_text(names[code]) + f" = {code}" * (lookup.texts is None) for code in sorted(unknown)]
        known = [f'"{one}"' if isinstance(one, str) else str(one) for one in sorted(lookup.known, key=str)]
        near = _another_spelling(given, lookup.known)
        if near is not None or len(unknown) == len(names):
            yield errors.values_misnamed(graph.path, attribute.name, shown, known, near, span)
        else:
            yield errors.values_unknown(graph.path, attribute.name, shown, known, span)


def _alone(form: Form, domain: Domain) -> Attribute | None:
    """The attribute that the form is as it stands."""
    match form.terms:
        case ((AttributeInput(place), factor),) if factor == 1 and form.constant == 0:
            return domain.attributes[place]
    return None


def _names(attribute: Attribute) -> Mapping[int, str]:
    """The values that somebody has, by their codes; none of numbers, of which a file need not know each."""
    match attribute.type:
        case Category(values=values):
            return {value.code: value.name for value in values if value.code != attribute.missing}
        case Boolean():
            return {0: "no", 1: "yes"}
    return {}


def _another_spelling(given: Mapping[int, str | int], known: frozenset[str | int]) -> str | None:
    """A text of the file that is no value, and that a value it lacks differs from by blanks, capitals or accents."""
    texts = {text for text in given.values() if isinstance(text, str)}
    listed = {text for text in known if isinstance(text, str)}
    lacking = {unspelled(text) for text in texts - listed}
    return next((text for text in sorted(listed - texts) if unspelled(text) in lacking), None)
