"""Confirmations that were made before, by digests of everything that they depend on.

Only confirmations are kept, never a refusal; an entry that is missing, damaged or not the user's own is made anew. The
name of an entry covers the file, the reading of it, the domain and the versions of all who took part.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from fairdsl.ir.domain import Domain
from fairdsl.ir.model import Deployed, Layer, Model
from fairdsl.ir.opaque import KernelMachine
from fairdsl.ir.reading import Reading
from fairdsl.models.basis import Indicators, Trees
from fairdsl.models.graph import ImportedGraph
from fairdsl.private_folder import make_room, private_folder
from fairdsl.resources import version
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of
from fairdsl.source.writing import write_file

#: Raised when individuals, comparisons or entries change in a way that the versions do not show.
_FORMAT = 2
#: Entries that are kept at most.
_MOST = 2000


def entry_of(model: Model, deployed: Deployed, graph: ImportedGraph, domain: Domain) -> Path | None:
    """Where a confirmation of this reading is kept; None where nothing can be kept."""
    folder = private_folder("readings")
    if folder is None:
        return None
    digest = sha256()
    for part in _parts(model, deployed, graph, domain):
        digest.update(part.encode() + b"\0")
    return folder / f"{digest.hexdigest()}.json"


def recall(entry: Path | None) -> Reading | None:
    """The confirmation that is kept there."""
    if entry is None:
        return None
    try:
        found = read_json(content_of(entry))
        individuals, bounded, alone = found["individuals"], found["bounded"], found["alone"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if type(individuals) is not int or individuals < 1 or type(bounded) is not bool or type(alone) is not bool:
        return None
    return Reading(individuals=individuals, bounded=bounded, alone=alone)


def remember(entry: Path | None, reading: Reading) -> None:
    """Keep a confirmation; written in one step, so that nobody reads half of it, and made anew if it is lost."""
    if entry is None:
        return
    with contextlib.suppress(OSError):
        make_room(entry.parent, _MOST)
        write_file(entry, json.dumps(asdict(reading)), flushed=False)


def _parts(model: Model, deployed: Deployed, graph: ImportedGraph, domain: Domain) -> Iterator[str]:
    import onnxruntime

    yield f"{_FORMAT} {version()} {onnxruntime.__version__} {np.__version__} {_sources()}"
    yield deployed.sha256
    yield repr(replace(deployed, path=""))
    yield repr(domain)
    yield repr((model.outcomes, model.rule, model.ensemble, model.groups, len(model.inputs)))
    layers: tuple[Layer, ...] = model.layers
    if isinstance(model.opaque, KernelMachine):
        machine = model.opaque
        layers = (machine.features, *layers)
        yield f"{machine.kernel} {machine.gamma} {machine.coef0} {machine.degree} {machine.vectors.digest}"
        yield f"{machine.coefficients.digest} {machine.offsets.digest}"
    for layer in layers:
        yield f"{layer.weight.digest} {layer.bias.digest} {layer.slope.digest} {layer.curves}"
    for block in graph.basis.blocks:
        if block.indicators is not None:
            yield _indicated(block.indicators)
        elif block.trees is not None:
            yield _planted(block.trees)
    for output in graph.outputs:
        yield f"{output.name} {output.kind} {output.labels} {output.ties_last}"


def _indicated(indicators: Indicators) -> str:
    """The tests, which the layers do not show."""
    tests = [(test.feature, test.relation.value, float(test.threshold)) for test in indicators.tests]
    return f"{indicators.operator} {tests}"


def _planted(trees: Trees) -> str:
    """The nodes, which the layers do not show."""
    shape = trees.shape
    arrays = (shape.roots, shape.yes, shape.no, trees.feature, trees.relation, trees.threshold)
    digest = sha256(b"".join(sha256(array.tobytes()).digest() for array in arrays))
    return f"{trees.operator} {digest.hexdigest()}"


@cache
def _sources() -> str:
    """Size and time of every source file that reads models, for a checkout changes between versions.

    Looked up once: what this process runs was loaded from them at about that time, whatever they are changed to later.
    """
    folder = Path(__file__).parent.parent
    found = sorted((path.relative_to(folder).as_posix(), path.stat()) for path in folder.rglob("*.py"))
    return " ".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in found)
