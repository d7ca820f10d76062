"""Files that hold a population: networks in BIF, and documents that fairdsl saved."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from fairdsl.data.errors import not_the_pinned_data
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.population import Network
from fairdsl.populations import errors
from fairdsl.populations.bif_read import network_of_bif
from fairdsl.populations.document_read import network_of_document
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.source import SourceFile
from fairdsl.source.reading import content_of

__all__ = ["read_network"]

_READERS = {"bif": network_of_bif, "json": network_of_document}


def read_network(distribution: CheckedDistribution, path: str) -> Network:
    """The network in the file at ``path``; raises DiagnosticError (E0534, E0572, E0574, E0575)."""
    declared = distribution.source
    assert declared is not None
    form = declared.format if declared.format is not None and path == declared.path else Path(path).suffix[1:].lower()
    if form not in _READERS:
        reason = f"`{form}` is neither `bif` nor `json`" if form else "its name does not say which format it has"
        help_text = 'write the format, as in `from bif "people.txt"`, or `empirical from "people.csv"` for rows'
        raise DiagnosticError(errors.network_not_read(path, reason, declared.span, help_text))
    try:
        content = content_of(path)
        text = content.decode("utf-8-sig")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        help_text = "check the path; it counts from the folder where the command runs"
        raise DiagnosticError(errors.network_not_read(path, reason, declared.span, help_text)) from problem
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8 text"
        raise DiagnosticError(errors.network_not_read(path, reason, declared.span, "save it in UTF-8")) from problem
    digest = sha256(content).hexdigest()
    if declared.sha256 is not None and declared.sha256.lower() != digest:
        span = declared.digest_span or declared.span
        raise DiagnosticError(not_the_pinned_data(path, declared.sha256, digest, span))
    return _READERS[form](distribution, SourceFile(path, text, digest))
