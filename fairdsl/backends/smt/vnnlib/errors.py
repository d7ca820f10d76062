"""What VNN-LIB files say that cannot be solved: each mistake with its place."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.source import Span


def not_vnnlib(path: str, what: str, place: Span | None, instead: str) -> Diagnostic:
    """A file, or a part of it, that is not VNN-LIB as it is read here."""
    return Diagnostic(
        code="E0624",
        title=f"`{path}` cannot be read as a VNN-LIB query",
        primary=None if place is None else Label(place, what),
        notes=() if place is not None else (what,),
        why="`unsat` of what was understood in part would look like a proof",
        help=instead,
    )


def networks_not_given(path: str, declared: Sequence[str], given: Sequence[str]) -> Diagnostic:
    """Networks on the command line that are not those that a query declares."""
    named = " ".join(f"--network {name}=FILE.onnx" for name in declared)
    what = f"it declares {_listed(declared)}, and files are given for {_listed(given) or 'none'}"
    return not_vnnlib(path, what, None, f"write `{named}`: one for each network that is not `equal-to` another")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
