"""What a file calls its inputs, beside what `reads` fills them with: W0814 where the two say different things."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import errors
from fairdsl.ir.declaration import ModelDeclaration
from fairdsl.ir.domain import Category, Domain
from fairdsl.ir.ensemble import attributes_of_form
from fairdsl.ir.expr import Member
from fairdsl.ir.feature import Form, IndicatorInput

#: What programs call columns that nobody has named: ``f0``, ``x[2]``, ``Column_3``.
_NUMBERED = re.compile(r".*\d\]?")


def contradictions(
    model: str, declaration: ModelDeclaration, names: Sequence[tuple[str, str]], domain: Domain, *, listed: bool
) -> Iterator[Diagnostic]:
    """Of a model with `reads`: ``names`` are the file's for each input, and the spec's for what fills it.

    ``listed``: the file has a list of names, so that one which the spec does not know is another column's.
    """
    values = _value_names(domain)
    for (name, feature), form, span in zip(names, declaration.reads or (), declaration.reads_spans, strict=True):
        attribute, read = _attribute(name, domain), attributes_of_form(form)
        if attribute is not None:
            differs = attribute not in read
        elif named := values.get(_plain(name)):
            differs = not any(place in read and _indicates(form) in (None, code) for place, code in named)
        else:
            own = [domain.attributes[place] for place in read]
            known = [_plain(word) for each in own for word in (each.name, each.column) if word]
            differs = listed and not _NUMBERED.fullmatch(name) and not any(word in _plain(name) for word in known)
        if differs:
            yield errors.another_name(model, name, feature, span)


def _attribute(name: str, domain: Domain) -> int | None:
    """The attribute of this name or column; its own spelling in files goes before another attribute's name."""
    for names in ([each.column for each in domain.attributes], [each.name for each in domain.attributes]):
        if name in names:
            return names.index(name)
    return None


def _plain(name: str) -> str:
    """The name as in all spellings: ``cat__sex_male`` and ``sex=male`` are ``sexmale``, ``x2_male`` is ``male``."""
    return re.sub(r"^x\d+_|[\W_]", "", name.rpartition("__")[2]).casefold()


def _value_names(domain: Domain) -> dict[str, set[tuple[int, int]]]:
    """What encoders call the indicators of values, by attribute and code: ``sexmale``, or ``male`` alone."""
    found = defaultdict[str, set[tuple[int, int]]](set)
    for place, attribute in enumerate(domain.attributes):
        if isinstance(attribute.known.type, Category):
            for value in attribute.known.type.values:
                for before in ("", attribute.name, attribute.column or ""):
                    found[_plain(before + value.name)].add((place, value.code))
    return found


def _indicates(form: Form) -> int | None:
    """The code of the one value that the form indicates; None of any other form."""
    match form.terms:
        case ((IndicatorInput(predicate=Member(values=values)), _),) if len(values) == 1:
            return int(next(iter(values)))
    return None
