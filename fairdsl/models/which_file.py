"""Which file a model is: named in place of the spec's, pinned by its digest, or made from another one.

``fairdsl prune`` writes into a file's metadata which network it was cut out of, so that nobody takes a verdict on
the one for a verdict on the other later.
"""

from __future__ import annotations

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import FileSource
from fairdsl.models import errors
from fairdsl.source import Span
from fairdsl.source.reading import content_of, opened

#: Keys of the metadata: the SHA-256 of the network that was cut, and what was removed from it, in words.
PRUNED_FROM, REMOVED_UNITS = "fairdsl.pruned_from_sha256", "fairdsl.removed_units"
#: Of a network that was cut for a part of the domain: which part, in words.
PRUNED_FOR = "fairdsl.pruned_for"


def check_replacement(path: str, model: str, span: Span) -> None:
    """See that the file at ``path`` can be opened; raises DiagnosticError (E0501), which says where it was named.

    Whoever reads the file would point at the path in the spec, at ``span``, which is not the one that is wrong.
    """
    try:
        with opened(path):
            pass
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise DiagnosticError(errors.cannot_open(path, reason, span, replaces=model)) from problem


def check_pinned(source: FileSource, path: str, digest: str, *, replaced: bool) -> None:
    """Raise DiagnosticError (E0507) where ``source`` pins another digest than that of the file at ``path``.

    ``replaced``: the file was named on the command line in place of the spec's.
    """
    pinned = source.sha256
    if pinned is not None and pinned.lower() != digest:
        span = source.digest_span or source.span
        raise DiagnosticError(errors.digest_differs(path, pinned, digest, span, replaced=replaced))


def pruned_from(path: str) -> tuple[str, str] | None:
    """The digest of the original of a pruned network, and the units that it lacks in words; None for any other file.

    Where the units are missing for the sake of a part of the domain, the words say which.
    """
    content = content_of(path)
    if PRUNED_FROM.encode() not in content:  # most files need not be parsed for this
        return None
    import onnx

    said = {entry.key: entry.value for entry in onnx.ModelProto.FromString(content).metadata_props}
    if PRUNED_FROM not in said:
        return None
    part = f", for {said[PRUNED_FOR]}" if PRUNED_FOR in said else ""
    return said[PRUNED_FROM], said.get(REMOVED_UNITS, "not said") + part
