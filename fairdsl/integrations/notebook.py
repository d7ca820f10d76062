"""``%load_ext fairdsl`` and ``%%fair``: a spec in a cell of a notebook, checked, and its report below.

``%%fair`` takes what the names in it need from the notebook: ``callables`` are functions by the names of models, and
paths in the spec count from the notebook's folder. ``%%fair NAME`` keeps the report in a variable.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairdsl.source.writing import write_file

if TYPE_CHECKING:
    from fairdsl.report.model import Report


def register(shell: Any) -> None:
    """Make ``%%fair`` known to a shell of IPython's."""
    shell.register_magic_function(lambda line, cell: fair(line, cell, shell), "cell", "fair")


def fair(line: str, cell: str, shell: Any) -> Report | None:
    """Check the spec in a cell; mistakes are printed as they stand, with their places in the cell."""
    import fairdsl

    words = shlex.split(line)
    options = dict(word.split("=", 1) for word in words if "=" in word)
    names = [word for word in words if "=" not in word]
    unknown = options.keys() - {"timeout", "seed", "callables"}
    if unknown or len(names) > 1:
        raise ValueError("write `%%fair [NAME] [timeout=SECONDS] [seed=N] [callables=NAME]`")
    space = shell.user_ns
    callables = space[options["callables"]] if "callables" in options else None
    # Files that the spec names count from its folder, so it lies where the notebook does.
    path = Path(f".cell-{os.getpid()}.fair")
    write_file(path, cell)
    try:
        report = fairdsl.check(
            path, callables=callables, timeout=float(options.get("timeout", 60)), seed=int(options.get("seed", 0))
        )
    except fairdsl.SpecError as error:
        from fairdsl.diagnostics.text import render

        print(render(error.diagnostics, colour=False, unicode=True, width=100))
        return None
    finally:
        path.unlink(missing_ok=True)
    if names:
        space[names[0]] = report
    return report
