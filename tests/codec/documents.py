"""Every kind of document."""

from __future__ import annotations

from fairdsl.codec import Document
from fairdsl.comparing.model import Comparison
from fairdsl.report.model import Report
from fairdsl.solver_files.manifest import Manifest

__all__ = ["DOCUMENTS", "file_of"]

DOCUMENTS: tuple[type[Document], ...] = (Comparison, Manifest, Report)


def file_of(kind: type[Document]) -> str:
    """The name of its schema's file: ``report.schema.json`` of ``fairdsl.report/2``."""
    return f"{kind.SCHEMA.removeprefix('fairdsl.').partition('/')[0]}.schema.json"
