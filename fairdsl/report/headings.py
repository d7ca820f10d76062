"""What a class says of its fields: the heading below which readers see one, so that whoever prints goes through them.

A field that is added to a checked property, under the same name, is taken over and shown without a further line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

_Made = TypeVar("_Made")

#: The heading of the clauses in force.
IN_FORCE = "in force"
_HEADING = "heading"


def below(heading: str) -> Mapping[str, str]:
    """The metadata of a field that is shown below this heading; with an empty one at the margin."""
    return {_HEADING: heading}


def headed(item: Any) -> Iterator[tuple[str, Any]]:
    """Headings and what stands below each, in the order of the fields; none of what is empty."""
    for each in fields(item):
        value = getattr(item, each.name)
        if _HEADING in each.metadata and value:
            yield each.metadata[_HEADING], value.split("\n") if isinstance(value, str) else value


def taken_over(kind: type[_Made], source: Any, **others: Any) -> _Made:
    """An object of the class that has ``others``, and of the source whatever has the same name."""
    made: Any = kind
    common = {each.name for each in fields(source)} & {each.name for each in fields(made)}
    return kind(**{name: getattr(source, name) for name in common - others.keys()}, **others)
