"""The rows behind distributions: each table of a run is read once, however many of them and models it is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.population import Sample

if TYPE_CHECKING:
    from fairdsl.data.table import Table


class Samples:
    """Samples by path, domain and label. The same rows are the same object, by which their decisions are kept."""

    def __init__(self) -> None:
        self._read: list[tuple[str, Domain, Attribute | None, Table, Sample]] = []

    def of(self, path: str, domain: Domain, label: Attribute | None) -> Sample:
        """The rows at ``path``, with the label (where there is one) as the last column.

        Raises DiagnosticError for a file that is not a table of these columns (E0530 to E0533).
        """
        from fairdsl.data.table import read_table  # heavy: specs without rows do without it

        known = [each for each in self._read if each[:2] == (path, domain)]
        for _, _, other, _, sample in known:
            if other == label:
                return sample
        # A table that was read with a label is one without it, too.
        table = replace(known[0][3], labels=None) if known and label is None else read_table(path, domain, label)
        sample = Sample(path=path, sha256=table.sha256, values=table.with_labels)
        self._read.append((path, domain, label, table, sample))
        return sample
