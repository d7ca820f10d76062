"""Opening a booster's file: which library wrote it, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.models.boosters.catboost import read_catboost
from fairdsl.models.boosters.forest import Forest, UnreadBoosterError, graph_of, inputs_of
from fairdsl.models.boosters.lightgbm import read_lightgbm
from fairdsl.models.boosters.ubj import decode_ubj
from fairdsl.models.boosters.xgboost import read_xgboost
from fairdsl.models.graph import GraphInputs, ImportedGraph, Texts
from fairdsl.source import Span
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of

#: The words before the path of a booster's file.
LIBRARIES = ("catboost", "lightgbm", "xgboost")


def library_of(path: str) -> str | None:
    """The library that wrote a file, by its first line or its keys; None of any other, or what cannot be opened."""
    try:
        content = content_of(path)
    except OSError:
        return None
    if content[:5] == b"tree\n" or content[:6] == b"tree\r\n":
        return "lightgbm"
    if _is_binary(content):
        return "xgboost"
    try:
        keys = read_json(content) if content[:1] == b"{" else None
    except ValueError:
        return None
    if not isinstance(keys, dict):
        return None
    if "learner" in keys:
        return "xgboost"
    return "catboost" if "scale_and_bias" in keys and "features_info" in keys else None


def _is_binary(content: bytes) -> bool:
    """Whether it is an object of binary JSON: behind the brace comes the type of a length, or of what follows."""
    return content[:1] == b"{" and content[1:2] in (b"L", b"l", b"I", b"i", b"U", b"$", b"#")


def read_booster(
    path: str,
    library: str,
    span: Span | None,
    texts: Callable[[GraphInputs], Sequence[Texts]],
    missing: Callable[[GraphInputs], Sequence[int]],
) -> ImportedGraph:
    """The booster as a graph; raises DiagnosticError.

    ``texts`` says what may fill inputs that take text, ``missing`` which numbers somebody may lack.
    """
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    try:
        forest = forest_of(content, library)
        given = GraphInputs(path=path, inputs=inputs_of(forest), feature_names=forest.names or None)
        named = texts(given) if any(map(forest.is_text, range(forest.width))) else ()
        return graph_of(path, sha256(content).hexdigest(), forest, named, missing(given))
    except UnreadBoosterError as problem:
        raise DiagnosticError(errors.own_file_not_read(path, library, str(problem), span)) from problem
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        reason = f"it is not a whole model of this library ({type(problem).__name__}: {problem})"
        raise DiagnosticError(errors.own_file_not_read(path, library, reason[:300], span)) from problem


def forest_of(content: bytes, library: str) -> Forest:
    """The trees of a file. Raises UnreadBoosterError, and what damaged files raise."""
    match library:
        case "lightgbm":
            return read_lightgbm(content.decode("utf-8"))
        case "catboost":
            return read_catboost(read_json(content))
        case _:
            document: Any = decode_ubj(content) if _is_binary(content) else read_json(content)
            return read_xgboost(document)
