"""Universal Binary JSON, as XGBoost writes it: objects, arrays (plain and of one type), numbers, texts."""

from __future__ import annotations

import struct
from typing import Any

_NUMBERS = {b"i": "b", b"U": "B", b"I": "h", b"l": "i", b"L": "q", b"d": "f", b"D": "d"}
_WORDS = {b"Z": None, b"T": True, b"F": False}
_DEEPEST = 64


def decode_ubj(content: bytes) -> Any:
    """The document. Raises ValueError."""
    reader = _Reader(content)
    try:
        found = reader.value(reader.mark(), 0)
    except (IndexError, struct.error, UnicodeDecodeError) as problem:
        raise ValueError("it is cut off or damaged") from problem
    return found


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def mark(self) -> bytes:
        """The next type, passing over bytes that say nothing."""
        while True:
            found = self._taken(1)
            if found != b"N":
                return found

    def value(self, mark: bytes, depth: int) -> Any:
        """The value of this type that comes next."""
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        if mark in _NUMBERS:
            return self._number(mark)
        if mark in _WORDS:
            return _WORDS[mark]
        if mark == b"S":
            return self._text()
        if mark == b"C":
            return self._taken(1).decode()
        if mark == b"[":
            return self._array(depth)
        if mark == b"{":
            return self._object(depth)
        raise ValueError(f"it holds the unknown type {mark!r}")

    def _taken(self, count: int) -> bytes:
        if count < 0 or self._place + count > len(self._content):
            raise ValueError("it is cut off")
        found = self._content[self._place : self._place + count]
        self._place += count
        return found

    def _number(self, mark: bytes) -> int | float:
        code = ">" + _NUMBERS[mark]
        (found,) = struct.unpack(code, self._taken(struct.calcsize(code)))
        return found  # type: ignore[no-any-return]

    def _length(self) -> int:
        found = self._number(self.mark())
        if not isinstance(found, int):
            raise ValueError("a length is not a whole number")
        return found

    def _text(self) -> str:
        return self._taken(self._length()).decode("utf-8")

    def _typed(self) -> tuple[bytes | None, int | None]:
        """The common type and the number of what follows, where they are said."""
        kind, count = None, None
        if self._next() == b"$":
            self._taken(1)
            kind = self._taken(1)
        if self._next() == b"#":
            self._taken(1)
            count = self._length()
        return kind, count

    def _next(self) -> bytes:
        return self._content[self._place : self._place + 1]

    def _array(self, depth: int) -> list[Any]:
        kind, count = self._typed()
        if kind in _NUMBERS and count is not None:
            code = _NUMBERS[kind]
            content = self._taken(struct.calcsize(">" + code) * count)
            return list(struct.unpack(f">{count}{code}", content))
        found: list[Any] = []
        while count is None or len(found) < count:
            mark = self.mark() if kind is None else kind
            if count is None and mark == b"]":
                break
            found.append(self.value(mark, depth + 1))
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._typed()
        found: dict[str, Any] = {}
        while count is None or len(found) < count:
            if count is None and self._next() == b"}":
                self._taken(1)
                break
            name = self._text()
            if name in found:
                raise ValueError(f"it has the key `{name}` twice")
            found[name] = self.value(self.mark() if kind is None else kind, depth + 1)
        return found
