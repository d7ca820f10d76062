"""What stands in the way of a search: one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic

__all__ = ["no_question", "unwritable_table"]


def no_question(path: str, pairs: Sequence[str], asked: str | None) -> Diagnostic:
    """E0633: no property about pairs, several of them, or a property about something else."""
    if asked is not None:
        title = f"`{asked[:30]}` is no property about pairs"
    elif pairs:
        title = f"the spec has {len(pairs)} properties about pairs"
    else:
        title = "the spec has no property about pairs"
    listing = ", ".join(f"`{name}`" for name in pairs)
    return Diagnostic(
        code="E0633",
        title=title,
        notes=(f"`{path}` asks about pairs in {listing}",) if pairs else (),
        why="what is searched for are two individuals that break one property",
        help=f"write `--property NAME` with one of {listing}"
        if pairs
        else "write a property with `compare a, b : DOMAIN` and a demand on the two",
    )


def unwritable_table(path: str, reason: str, instead: str) -> Diagnostic:
    """E0634: a table in a format that is not known, or whose library is not installed."""
    name = path if len(path) <= 40 else path.replace("\\", "/").rsplit("/", 1)[-1][-40:]
    return Diagnostic(
        code="E0634",
        title=f"the table `{name}` cannot be written",
        notes=(reason,),
        why="a table in another format than its name says would not be read",
        help=instead,
    )
