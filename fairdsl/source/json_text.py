"""The one way from JSON that somebody else wrote to values: nested no deeper than documents are.

Imports nothing of ours. Python reads nesting up to what is left of its stack, and whoever walks the values then needs
as much again. Here the limit is the same everywhere, and what is beyond it has a place in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

#: Lists and objects inside one another, at most; what fairdsl writes needs about twenty.
DEEPEST = 100
#: Strings, which are passed over as wholes, and what opens or closes a list or an object.
_OPENING_OR_CLOSING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[]}]', re.DOTALL)


class TooDeepError(json.JSONDecodeError):
    """The text nests deeper than :data:`DEEPEST`; ``pos`` is where."""


def read_json(
    content: str | bytes,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
    parse_int: Callable[[str], Any] | None = None,
) -> Any:
    """The values, as ``json.loads`` makes them, which has these hooks.

    ValueError for what is not JSON: JSONDecodeError where it has a place, TooDeepError for what nests too deep.
    """
    text = content if isinstance(content, str) else content.decode(json.detect_encoding(content), "surrogatepass")
    place = _too_deep(text)
    if place is not None:
        raise TooDeepError(f"Lists and objects nest deeper than {DEEPEST}", text, place)
    return json.loads(
        text,
        object_pairs_hook=object_pairs_hook,
        parse_constant=parse_constant,
        parse_float=parse_float,
        parse_int=parse_int,
    )


def _too_deep(text: str) -> int | None:
    """Where the first list or object begins that lies too deep."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return None
    depth = 0
    for found in _OPENING_OR_CLOSING.finditer(text):
        match text[found.start()]:
            case "[" | "{":
                depth += 1
                if depth > DEEPEST:
                    return found.start()
            case "]" | "}":
                depth -= 1
    return None
