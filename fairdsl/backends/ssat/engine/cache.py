"""Values of components that were solved, by the keys that identify them exactly; within a number of bytes.

When the bytes are used up, the older half is forgotten. Values are then found anew where they are needed: too little
memory costs time, and never the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

__all__ = ["Cache"]

#: Bytes of an entry beside its key and its value: two objects' headers, and its slot in the table.
_ENTRY = 160


class Cache:
    """Values by key, and where the outermost choice was decided, the literal that attains the value."""

    __slots__ = ("_choices", "_values", "bytes", "limit")

    def __init__(self, limit: int) -> None:
        self._values: dict[bytes, int] = {}
        self._choices: dict[bytes, int] = {}
        #: An estimate of what the entries take.
        self.bytes = 0
        self.limit = limit

    def __len__(self) -> int:
        return len(self._values)

    @property
    def choices(self) -> Mapping[bytes, int]:
        """The literal to choose in a component, where that is known."""
        return self._choices

    def get(self, key: bytes) -> int | None:
        """The value, where it is known."""
        return self._values.get(key)

    def put(self, key: bytes, value: int, choice: int | None = None) -> None:
        """Remember a value, and the literal that attains it."""
        self._values[key] = value
        if choice is not None:
            self._choices[key] = choice
        self.bytes += _size(key, value)
        if self.bytes > self.limit:
            self._forget()

    def _forget(self) -> None:
        """Drop the older half; what was put last stays."""
        for key in list(islice(self._values, len(self._values) // 2)):
            self.bytes -= _size(key, self._values.pop(key))
            self._choices.pop(key, None)


def _size(key: bytes, value: int) -> int:
    return _ENTRY + len(key) + value.bit_length() // 8
