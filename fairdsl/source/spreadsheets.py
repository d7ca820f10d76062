"""Texts as cells of CSV files: what spreadsheets would compute is defused where that is asked for.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for a formula, which
may read other cells and call other programs (OWASP, "CSV Injection"). An apostrophe in front makes it a text there, and
another text for everybody else, so nothing is changed unless the user says so.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from fairdsl.source.numbers import read_number

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_DEFUSED: ContextVar[bool] = ContextVar("formulas are defused", default=False)


@contextmanager
def writing(*, defuse_formulas: bool = False) -> Iterator[None]:
    """Within it texts in CSV files that spreadsheets would take for formulas begin with an apostrophe."""
    token = _DEFUSED.set(defuse_formulas)
    try:
        yield
    finally:
        _DEFUSED.reset(token)


def cell(text: str) -> str:
    """A text, or a number's, as it is written in a table: numbers stay numbers, also those below 0."""
    return f"'{text}" if _DEFUSED.get() and text.startswith(_FORMULA) and not _is_number(text) else text


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """The rows as the text of a CSV file, quoted where readers need it; lines end in a line feed."""
    lines = _Lines()
    # A carriage return in a cell is put within quotation marks only where lines end in one.
    csv.writer(lines, lineterminator="\r\n").writerows([cell(str(each)) for each in row] for row in rows)
    return "".join(lines)


class _Lines(list[str]):
    """Takes a line of a CSV file at a time."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def _is_number(text: str) -> bool:
    try:
        read_number(text)
    except ValueError:
        return False
    return True
