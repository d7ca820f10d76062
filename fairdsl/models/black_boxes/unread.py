"""An ONNX file that runs and cannot be read exactly, asked as a black box where that means the same.

Nothing can be proved of such a file, and it can be searched, sampled and run on rows all the same. So it is asked as
``from black_box "..."`` would ask it, with a warning, instead of not at all. But a black box is told what its numbers
are by the decision clause alone, where the reading of a file also looks at how they are made. Where the two could come
to different decisions, or the file answers in several ways, the error stays:

* no decision clause, or a class by a position in text labels: the reading refuses these;
* several outputs that the clause could speak of, none of which is the label, or scores of classes beside a label;
* ``probability`` of an output that no sigmoid, softmax or classifier with such a curve makes: of a file that is read, a
  raw score is the logit of a probability, and never the probability itself;
* a ``score`` that a curve makes, compared with a number outside 0 .. 1 (E0512).

``from onnx "..."`` says that the file has to be read: then the error stays always.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.ir.declaration import (
    ByAnswer,
    FileSource,
    Highest,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import Domain
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.models import errors
from fairdsl.models.black_boxes.asked import some_of
from fairdsl.models.black_boxes.classes import known_classes, label_outputs
from fairdsl.models.black_boxes.reading import kind_of, reading_of
from fairdsl.models.classes.known import Classes
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import points_of

#: What says that a file runs and is not read exactly: an operator, or a place of one.
_NOT_READ = frozenset({"E0503", "E0504"})
#: What may stand beside it: NaN among the constants, with which such operators look for missing numbers.
_BESIDE = frozenset({"E0506"})


def asked_instead(
    declaration: ModelDeclaration,
    domain: Domain,
    override_path: str | None,
    problem: DiagnosticError,
    warnings: Reporter | None,
) -> Model:
    """The file as a black box, with a warning; raises ``problem`` where that could be another model.

    Without ``warnings`` nobody would hear of it, and it is raised as well.
    """
    source = declaration.source
    if warnings is None or not isinstance(source, FileSource) or source.format is not None:
        raise problem
    codes = {one.code for one in problem.diagnostics}
    if isinstance(declaration.decision, ByAnswer) or not codes & _NOT_READ or codes - _NOT_READ - _BESIDE:
        raise problem
    try:
        model = _same_meaning(declaration, source, domain, override_path)
    except DiagnosticError:
        raise problem from None  # it does not run, draws at random or has no such output
    if model is None or not isinstance(model.opaque, BlackBox):
        raise problem
    unread = next(one for one in problem.diagnostics if one.code in _NOT_READ)
    reason = _in_words(unread)
    warnings.report(errors.asked_as_black_box(override_path or source.path, reason, unread, source.span))
    return replace(model, opaque=replace(model.opaque, unread=reason))


def _in_words(finding: Diagnostic) -> str:
    where = "" if finding.primary is None or not finding.primary.text else f": {finding.primary.text}"
    return f"{finding.title}{where}"


def _same_meaning(
    declaration: ModelDeclaration, source: FileSource, domain: Domain, override_path: str | None
) -> Model | None:
    """The black box, None where its decisions could mean something else than those of the file if it were read."""
    from fairdsl.models.black_boxes.file import black_box_file
    from fairdsl.models.onnx_import.signature import curved_outputs, read_signature

    model = black_box_file(declaration, source, domain, override_path)
    assert model.deployed is not None, "it is a file"
    clause, path, output = declaration.decision, model.deployed.path, model.deployed.output
    runtime = Runtime(model.deployed, source.span)
    tried = [runtime.outputs(point) for point in points_of(some_of(domain))]
    if not tried:
        return None
    labels = label_outputs(tried[0])
    if output not in labels:
        signature = read_signature(path, source.span)
        fitting = [
            name for name in tried[0] if _fits(declaration, known_classes(name, signature, tried), tried[0][name])
        ]
        if len(fitting) > 1 or (labels and isinstance(clause, Highest | WhenClass)):
            return None
    curved = output in curved_outputs(path)
    if isinstance(clause, WhenProbability) and not curved:
        return None
    if isinstance(clause, WhenScore) and curved and not 0 < clause.threshold < 1:
        return None
    return model


def _fits(declaration: ModelDeclaration, classes: Classes, output: NDArray[Any]) -> bool:
    """Whether the decision clause could speak of an output, also where it then names classes that this has not."""
    try:
        return reading_of(declaration, classes, kind_of(output), output.shape[1]) is not None
    except DiagnosticError:
        return True
