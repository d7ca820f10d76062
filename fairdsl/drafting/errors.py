"""What stands in the way of a first spec: one constructor a code."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.diagnostics.suggest import nearest
from fairdsl.diagnostics.surface import said


def no_such_column(name: str, headers: Sequence[str], unusable: str | None, instead: Sequence[str] = ()) -> Diagnostic:
    """E0670: a column that the table has not, or one that is ``unusable`` for that reason.

    ``instead`` are the columns that look protected, where that is sought.
    """
    near = nearest(name, headers)
    several = [each for each in re.split(r"[\s,;]+", name) if each]
    apart = said(f"--protected {','.join(several)}", f"protected={json.dumps(several)}")
    there = f"the column `{name}` cannot be used", (unusable or "",), "mend the column, or name another one"
    missing = (
        f"the table has no column `{name}`",
        (f"its columns are: {', '.join(headers)}",),
        f"these are several columns: write `{apart}`"
        if instead and len(several) > 1 and set(several) <= set(headers)
        else f"did you mean `{near}`?"
        if near
        else f"these look protected: {', '.join(f'`{each}`' for each in instead)}"
        if instead
        else "name a column by its header",
    )
    title, notes, help_text = missing if unusable is None else there
    return Diagnostic(
        code="E0670",
        title=title,
        notes=notes,
        why="who is protected and what became of people are columns of the table",
        help=help_text,
    )


def would_overwrite(path: str, option: str = "-o FILE.fair", argument: str = "output=") -> Diagnostic:
    """E0671: a file is in the place of the new spec."""
    return Diagnostic(
        code="E0671",
        title=f"`{path}` exists already",
        why="a spec that somebody has read and edited is an audit; it is not replaced by a draft",
        help=f"name another file with `{said(option, argument)}`, or move this one away",
    )


def nothing_to_ask(path: str) -> Diagnostic:
    """E0672: no column of the table can be an attribute."""
    return Diagnostic(
        code="E0672",
        title=f"no column of `{path}` can be an attribute",
        why="an attribute has several values, and more rows than values",
        help="give a table of people, a row each: columns with categories or numbers",
    )
