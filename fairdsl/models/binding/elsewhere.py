"""Trees that compare attributes with numbers far from their ranges: then range and file seem to have other units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.models.basis import Trees
from fairdsl.models.binding import errors
from fairdsl.models.binding.early import filled
from fairdsl.models.binding.indicators import form_of
from fairdsl.models.graph import ImportedGraph
from fairdsl.source import Span


def ranges_elsewhere(
    model: str, graph: ImportedGraph, forms: Sequence[Form], domain: Domain, span: Span
) -> Iterator[Diagnostic]:
    """A finding (W0820) for each attribute that trees compare only with numbers far from its range.

    That is further than the range is wide: about a part of the people, a file has thresholds for others as well.
    ``forms`` fill the file's inputs; nobody lacks a value here.
    """
    absent = () if graph.basis.absent is None else graph.basis.absent.places
    units = filled(graph.basis.blocks, (*forms, *(Form() for _ in absent), *(Form() for _ in absent)))
    compared: dict[int, list[NDArray[np.float64]]] = {}
    for trees in (block.trees for block in graph.basis.blocks):
        if trees is not None and trees.features.parts.keys() <= units.keys():
            for feature, thresholds in _by_feature(trees):
                match form_of(trees.features, feature, units):
                    case Form(terms=((AttributeInput(place), factor),), constant=constant):
                        numbers = (thresholds - float(constant)) / float(factor)
                        compared.setdefault(place, []).append(numbers)
    for place, every in compared.items():
        attribute, numbers = domain.attributes[place], np.sort(np.concatenate(every))
        low, high = attribute.known.bounds
        if not isinstance(attribute.known.type, Integer | Real) or low is None or high is None or low == high:
            continue
        if not ((numbers >= float(2 * low - high)) & (numbers <= float(2 * high - low))).any():
            least, largest = (f"{number:.6g}" for number in numbers[[0, -1]].tolist())
            yield errors.range_elsewhere(attribute, model, least, largest, span)


def _by_feature(trees: Trees) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Each feature that is tested, with the numbers that it is compared with."""
    feature, threshold = trees.feature[trees.shape.inner], trees.threshold[trees.shape.inner]
    order = np.argsort(feature, kind="stable")
    found, starts = np.unique(feature[order], return_index=True)
    return zip(found.tolist(), np.split(threshold[order], starts[1:]), strict=False)  # of no tests one empty part
