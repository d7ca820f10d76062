"""The pruned networks of parts of a domain, each as a file of its own.

Units that are never, or seldom, active in a part are removed for that part alone; elsewhere they may be what decides.
So a file says in its metadata which part it was cut for, and nobody outside of it is the business of a verdict on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fairdsl.ir.problem import Problem
from fairdsl.pruning.onnx_file import write_onnx
from fairdsl.pruning.profile import Units
from fairdsl.pruning.source_file import as_declared, network_file, removable


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFile:
    """A file that was written: its path, its digest, and the units that it lacks, by layer of the original.

    Of ``drawn`` individuals of the part, others than those that chose the units, it decides ``changed`` differently.
    """

    path: str
    sha256: str
    units: Units
    drawn: int = 0
    changed: int = 0


def check_cuts(problem: Problem) -> None:
    """Check that every unit that pruning may choose can be taken out of the model's file, before anything is asked.

    Raises DiagnosticError: E0561 where the model is not a network from a file, E0560 where a layer of it cannot be cut.
    """
    layers = problem.model.layers[:-1]
    # A layer keeps one of its units, so each of two halves is tried without the other.
    chosen = {number: removable(layer) for number, layer in enumerate(layers)}
    first = {number: tuple(units[: (len(units) + 1) // 2]) for number, units in chosen.items()}
    second = {number: tuple(units[(len(units) + 1) // 2 :]) for number, units in chosen.items()}
    with TemporaryDirectory() as folder:
        for half in (first, second):
            kept = {number: units for number, units in half.items() if len(units) < layers[number].width}
            write_part(problem, kept, str(Path(folder) / "trial.onnx"), "a trial")


def write_part(problem: Problem, units: Units, target: str, part: str, *, drawn: int = 0, changed: int = 0) -> PartFile:
    """Write the problem's model without the units to ``target``; ``part`` says in words for whom.

    Raises DiagnosticError as :func:`check_cuts` does, and OSError where the file cannot be written.
    """
    model, declaration = problem.model, problem.model.declaration
    source = None if declaration is None else declaration.source
    file = network_file(source, model, (model.name,))
    assert declaration is not None, "a network from a file was declared"
    importer = as_declared(declaration, problem.domain)
    written = write_onnx(file, model, units, target, importer, declaration.source.span, part=part)
    assert written.model.sha256 is not None, "a file has a digest"
    return PartFile(path=target, sha256=written.model.sha256, units=units, drawn=drawn, changed=changed)
