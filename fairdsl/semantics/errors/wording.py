"""Turns of phrase that several findings share."""

from __future__ import annotations

from collections.abc import Iterable

from fairdsl.diagnostics import Edit, nearest
from fairdsl.source import Span


def did_you_mean(name: str, known: Iterable[str], span: Span) -> tuple[str | None, Edit | None]:
    """The help and the fix that a near miss deserves; (None, None) without one."""
    guess = nearest(name, known)
    return (f"did you mean `{guess}`?", Edit(span, guess)) if guess else (None, None)


def listing(names: Iterable[str], word: str = "and") -> str:
    """`a`, `b` and `c`; long lists are cut."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > 12:
        quoted = [*quoted[:11], f"{len(quoted) - 11} more"]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
