"""The groups that a question leaves out for their few rows, by the cells of a law's keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from fairdsl.backends.ssat.law import Law
from fairdsl.ir.population import label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Counted, Key, key_of

__all__ = ["Cells", "Excluded"]

#: The cells of the subject's keys.
Cells = tuple[int, ...]


class Excluded:
    """The groups that the question leaves out for their few rows; those of probability 0 the law bars by itself."""

    def __init__(self, question: GroupMetric, law: Law, counts: Mapping[Key, Counted]) -> None:
        network, keys = law.subject.network, law.subject.keys
        # Rows are counted by group and stratum, whatever their label is.
        labelled = question.metric.rate.reads_label and keys[-1] == label_column(network)
        self.keys = keys[:-1] if labelled else keys
        self._cells = [[key_of(cell) for cell in network.cells[key]] for key in self.keys]
        self._least = 0 if question.excluding is None or not counts else question.excluding.rows or 0
        self._rows: dict[Key, int] = {}
        for key, count in counts.items():
            group = key[: len(self.keys)]
            self._rows[group] = self._rows.get(group, 0) + count.rows

    def __contains__(self, cells: Cells) -> bool:
        group = tuple(values[cell] for values, cell in zip(self._cells, cells, strict=False))
        return self._rows.get(group, 0) < self._least

    def groups(self) -> Iterator[dict[int, int]]:
        """The cells of the keys of each, by the keys' places."""
        if self._least:
            for cells in product(*(range(len(values)) for values in self._cells)):
                if cells in self:
                    yield dict(enumerate(cells))
