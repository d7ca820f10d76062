"""What instances say: files that are not instances, and files that are not as they were written."""

from __future__ import annotations

from fairdsl.codec import MisfitError
from fairdsl.diagnostics import Diagnostic, Label


def unreadable(path: str, misfit: MisfitError) -> Diagnostic:
    """A file that is not an instance, or one with a mistake at a place of it."""
    return Diagnostic(
        code="E0617",
        title=f"`{path}` cannot be read as a subset-sum instance",
        primary=None if misfit.span is None else Label(misfit.span, misfit.said),
        notes=(misfit.said,) if misfit.span is None else (),
        why="a number computed from what was understood in part would look like the answer",
        help="write instances with `fairdsl compile SPEC --to subset-sum -o DIR`; docs/subset-sum.md has the format",
    )


def altered(path: str) -> Diagnostic:
    """An instance whose content is not what its sha256 says."""
    return Diagnostic(
        code="E0618",
        title=f"`{path}` was changed after it was written",
        notes=("its content is not what its sha256 says",),
        why="an instance names the spec, the model and the data it was made from; what was changed is about others",
        help="write it again; or leave out `asked` and `sha256` if the instance is your own",
    )
