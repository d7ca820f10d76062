"""A text with places replaced, that still knows where each of its characters came from."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.diagnostics.model import Edit


@dataclass(frozen=True, slots=True)
class Patched:
    """``original[i]`` is the offset in the file of character ``i``; one more closes the text."""

    text: str
    original: list[int]


def patch(text: str, edits: tuple[Edit, ...]) -> Patched:
    """Apply edits; of overlapping ones the longer stays, and insertions come before replacements."""
    pieces: list[str] = []
    original: list[int] = []
    done = 0
    for edit in _apart(edits):
        pieces += [text[done : edit.span.start], edit.replacement]
        original += range(done, edit.span.start)
        original += [edit.span.start] * len(edit.replacement)
        done = edit.span.end
    pieces.append(text[done:])
    original += range(done, len(text) + 1)
    return Patched("".join(pieces), original)


def _apart(edits: tuple[Edit, ...]) -> list[Edit]:
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.span.start - e.span.end, e.span.start)):
        start, end = edit.span.start, edit.span.end
        if all(end <= k.span.start or start >= k.span.end for k in kept):
            kept.append(edit)
    return sorted(kept, key=lambda e: (e.span.start, e.span.end))
