"""What skl2onnx leaves out of the pipelines that people have, written in its place."""

from __future__ import annotations

from fairdsl.models.exporting.prepared import prepared, reads_columns, settings_of, text_columns
from fairdsl.models.exporting.refused import NotExportedError

__all__ = ["NotExportedError", "prepared", "reads_columns", "settings_of", "text_columns"]
