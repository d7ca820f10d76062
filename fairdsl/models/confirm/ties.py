"""Ties: whom the file gives which label where two classes have the same score.

Whether the file rounds on its way to a tie is seen by looking: where all numbers of its tensors are the exact ones, it
has rounded nothing, so its label is not a matter of rounding but of what its operators mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.basis import Affine
from fairdsl.models.confirm.compare import Difference
from fairdsl.models.confirm.expected import Expected, Texts
from fairdsl.models.confirm.units import Units
from fairdsl.models.graph import ImportedGraph

__all__ = ["compare_ties", "tied_rows"]

#: So many individuals are looked at for each output.
_LOOKED_AT = 4


def tied_rows(expected: Sequence[Expected]) -> NDArray[np.int64]:
    """Individuals with a tie of the highest scores behind some label, a few for each output."""
    rows = [np.flatnonzero(wanted.tied & ~wanted.sure)[:_LOOKED_AT] for wanted in expected if isinstance(wanted, Texts)]
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)


def compare_ties(
    graph: ImportedGraph,
    units: Units,
    expected: Sequence[Expected],
    steps: Callable[[Sequence[str]], Mapping[str, NDArray[Any]]],
) -> Difference | None:
    """A label that the one individual of ``units`` gets otherwise in the file, which rounds nothing of its scores."""
    affine = {name: value for name, value in graph.values.items() if isinstance(value, Affine) and value.size}
    names = [name for node in (graph.raw.nodes if graph.raw else ()) for name in node.outputs if name in affine]
    labels = [output.name for output in graph.outputs]
    found = steps([*names, *(name for name in labels if name not in names)])
    for name in names:
        mine = units.affine(affine[name])
        if name in found and not np.array_equal(
            np.asarray(found[name], dtype=np.float64).reshape(-1)[: mine.size], mine[0]
        ):
            return None
    for name, wanted in zip(labels, expected, strict=True):
        if isinstance(wanted, Texts) and name in found and wanted.tied[0]:
            theirs = found[name].reshape(-1)[0]
            if wanted.certain.disagree(np.array([[theirs]], dtype=object)).any():
                return Difference(0, name, 0, theirs, wanted.values[0, 0])
    return None
