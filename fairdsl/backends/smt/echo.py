"""Answers that say which script they answer.

A script begins with ``(echo "fairdsl-DIGEST")``, the digest being of everything else in it. Solvers print that string
before their status, so an output carries the digest of the script that it is about: kept elsewhere, renamed, or left
over from an earlier spec, it is not taken for an answer to another script. The name of a file is no such bond.
"""

from __future__ import annotations

import re
from hashlib import sha256

__all__ = ["echo", "echoed", "mark"]

_DIGITS = 16
_MARK = rf"fairdsl-[0-9a-f]{{{_DIGITS}}}"
#: Some solvers print the string with its quotes.
_PRINTED = re.compile(rf'^\s*"?({_MARK})"?\s*$', re.MULTILINE)
_COMMAND = re.compile(rf'^\(echo "({_MARK})"\)$', re.MULTILINE)


def mark(text: str) -> str:
    """What the script without its echo is to print."""
    return f"fairdsl-{sha256(text.encode()).hexdigest()[:_DIGITS]}"


def echo(text: str) -> str | None:
    """What a script says that it prints; None for one that says nothing, of another origin for example."""
    found = _COMMAND.search(text)
    return found[1] if found else None


def echoed(output: str) -> frozenset[str]:
    """The marks of all scripts that the output is about; none where the solver has no `echo`."""
    return frozenset(_PRINTED.findall(output))
