"""Sessions of onnxruntime as the files that they run."""

from __future__ import annotations

from typing import Any

from fairdsl.models.exporting import NotExportedError
from fairdsl.source.reading import content_of

__all__ = ["content_of_session", "is_session"]


def is_session(given: object) -> bool:
    """Whether it is a session of onnxruntime."""
    return all(callable(getattr(given, name, None)) for name in ("get_inputs", "get_outputs", "run"))


def content_of_session(session: Any) -> bytes:
    """The bytes of its file; raises NotExportedError where it does not say which that was."""
    content, path = (getattr(session, name, None) for name in ("_model_bytes", "_model_path"))
    if isinstance(content, bytes):
        return content
    if not isinstance(path, str):
        raise NotExportedError("this session does not say which file it runs", "give the path of the file")
    try:
        return content_of(path)
    except OSError as problem:
        raise NotExportedError(f"`{path}`: {problem.strerror}", "give the path of the file") from problem
