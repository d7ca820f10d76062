"""What the streams we write to can show."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from fairdsl.diagnostics.style import Style

#: Columns where nobody looks at a terminal, and the most that are easy to read on one.
_PIPED = 100
_WIDEST = 120


def output_style() -> Style:
    """For standard output."""
    return _style(sys.stdout)


def error_style() -> Style:
    """For standard error."""
    return _style(sys.stderr)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person may be watching."""
    try:
        return stream.isatty()
    except ValueError:  # the stream is closed
        return False


def _style(stream: TextIO) -> Style:
    """Colour only on terminals that have it and whose owner does not object (https://no-color.org)."""
    terminal = is_terminal(stream)
    colour = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    unicode = (getattr(stream, "encoding", None) or "ascii").lower().startswith("utf")
    width = min(shutil.get_terminal_size().columns, _WIDEST) if terminal else _PIPED
    return Style(colour=colour, unicode=unicode, width=width)
