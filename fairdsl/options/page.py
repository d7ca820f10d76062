"""The page about all options (docs/options.md), from their declarations."""

from __future__ import annotations

from collections.abc import Iterable

from fairdsl.options.commands import COMMANDS
from fairdsl.options.declare import Section, declared
from fairdsl.options.run import Run

_INTRODUCTION = """\
# Options

What can be set for `fairdsl check`, of backends for `fairdsl compile` and `fairdsl solve`, too, and for `fairdsl
search`, `compile`, `repair` and `prune` themselves. This page is generated from the declarations (`run.py` and
`commands.py` in `fairdsl/options`, and the file `options.py` in the folder of each backend); `fairdsl explain options`
prints the same, and `fairdsl explain smt.trust_milp` explains one of them.

On the command line an option with a flag is written as the flag, every other one as `--set SECTION.NAME=VALUE`, as
often as needed (of commands `search` alone has such ones). In Python the options of a run and those of commands are
keywords, and those of backends go by section:

```python
import fairdsl

report = fairdsl.check(
    "audit.fair",
    timeout=30,
    options={"smt": {"trust_milp": True}, "ssat": {"pb_encoding": "adder"}},
)
```

A value is written as on the command line (`"2GiB"`, `"1%"`, `"yes"`) or as Python has it (`2 << 30`, `0.01`, `True`).
What does not exist or does not fit is an error in both ([E0660](errors/E0660.md), [E0661](errors/E0661.md),
[E0662](errors/E0662.md)); an option of a backend that the run does not ask is a warning ([W0815](errors/W0815.md)).
"""


def page(sections: Iterable[type[Section]]) -> str:
    """The whole page, with the sections in this order behind that of every run."""
    parts = [_INTRODUCTION]
    every: list[type[Section]] = [Run, *sections, *COMMANDS]
    for section in every:
        heading = (section.__doc__ or "").split("\n")[0].rstrip(".")
        parts.append(f"\n## `{section.section}`\n\n{heading}.\n\n{_table(section)}")
    return "".join(parts)


def _table(section: type[Section]) -> str:
    rows = ["| option | flag | takes | default | |", "| --- | --- | --- | --- | --- |"]
    for each in declared(section):
        flag = "" if each.flag is None else f"`{each.flag}`"
        rows.append(f"| `{each.path}` | {flag} | {each.kind.words} | {each.without} | {each.help} |")
    return "\n".join(rows) + "\n"
