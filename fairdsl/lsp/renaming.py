"""Where a name is declared and mentioned, and another name for it everywhere.

A new name is refused where the specs would mean something else with it: they are read again, and every name has to
mean what it meant before, with the same findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fairdsl.diagnostics import Edit
from fairdsl.lsp.desk import Desk, Seen
from fairdsl.lsp.names import Declared
from fairdsl.source import Span
from fairdsl.source.names import is_name
from fairdsl.syntax.onward import PLACEHOLDER
from fairdsl.syntax.patch import patch

#: Where a name stands: its file, and the offset of its first character.
_Place = tuple[str, int]


class NotRenamedError(ValueError):
    """Why something keeps its name."""


def declaration_at(seen: Seen, offset: int) -> Declared | None:
    """What the name at a place of the spec's own text means."""
    mention = seen.mention_at(offset)
    return None if mention is None else seen.names.meant_by(mention)


def mentions_of(desk: Desk, declared: Declared) -> list[Span]:
    """Every place that names it, its declaration first, in all specs that are part of the work."""
    place = _place(declared.name.span)
    found: dict[_Place, Span] = {place: declared.name.span}
    for seen in desk.users_of(place[0]):
        for mention in seen.mentions:
            meant = seen.names.meant_by(mention)
            if meant is not None and _place(meant.name.span) == place:
                found.setdefault(_place(mention.name.span), mention.name.span)
    return list(found.values())


def renamed(desk: Desk, declared: Declared, name: str) -> list[Edit]:
    """The edits that give it another name. NotRenamedError says why it keeps its own."""
    quoted = declared.name.quoted
    if not is_name(name) and not (quoted and '"' not in name and "\n" not in name and name):
        raise NotRenamedError(f"`{name}` is not a name: letters, digits and underscores, and no digit first")
    if name == PLACEHOLDER or name == declared.name.text:
        raise NotRenamedError(f"it is called `{name}` already")
    spans = mentions_of(desk, declared)
    edits = [Edit(span, f'"{name}"' if span.text.startswith('"') else name) for span in spans]
    users = list(desk.users_of(declared.name.span.file.path))
    _check(desk, users, edits)
    return edits


def _check(desk: Desk, users: list[Seen], edits: list[Edit]) -> None:
    """Read everything again as it would be, and compare what names mean and what is found."""
    after = Desk(encoding=desk.encoding, folders=[], opened=dict(desk.opened))
    moved: dict[str, dict[int, int]] = {}
    for path in {edit.span.file.path for edit in edits}:
        here = tuple(edit for edit in edits if edit.span.file.path == path)
        patched = patch(desk.text(path), here)
        moved[path] = _moved(here)
        after.put(desk.uri(path), 0, patched.text)
    for seen in users:
        new = after.seen(seen.path)
        if Counter(each.code for each in seen.findings) != Counter(each.code for each in new.findings):
            other = next((each for each in new.findings if each not in seen.findings), None)
            raise NotRenamedError(f"something else would be meant: {other.title}" if other else "findings would change")
        if Counter(_meanings(seen, moved)) != Counter(_meanings(new, {})):
            raise NotRenamedError("another name would mean something else then")


def _moved(edits: tuple[Edit, ...]) -> dict[int, int]:
    """How far each edit moves what stands behind its place."""
    return {edit.span.start: len(edit.replacement) - (edit.span.end - edit.span.start) for edit in edits}


def _meanings(seen: Seen, moved: dict[str, dict[int, int]]) -> Iterator[tuple[_Place, _Place | None]]:
    """What every name means, by places as they are once everything has moved."""
    for mention in seen.mentions:
        meant = seen.names.meant_by(mention)
        target = None if meant is None else _after(_place(meant.name.span), moved)
        yield _after(_place(mention.name.span), moved), target


def _after(place: _Place, moved: dict[str, dict[int, int]]) -> _Place:
    path, start = place
    return path, start + sum(by for at, by in moved.get(path, {}).items() if at < start)


def _place(span: Span) -> _Place:
    return span.file.path, span.start
