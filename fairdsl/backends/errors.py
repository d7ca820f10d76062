"""What every backend that keeps results in files says about them."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.source.writing import disk_failed

_ANOTHER_FOLDER = "name a folder that can be written, with `-o DIR`"


def cannot_write(path: str, reason: str | OSError, instead: str = _ANOTHER_FOLDER) -> Diagnostic:
    """A file or folder cannot be made or written to: for the place that was named, or because the disk fails."""
    said = (reason.strerror or str(reason)) if isinstance(reason, OSError) else reason
    if isinstance(reason, OSError) and disk_failed(reason):
        return disk_full(path, said, instead)
    return Diagnostic(code="E0605", title=f"cannot write into `{path}`", notes=(said.lower(),), help=instead)


def disk_full(path: str, reason: str, instead: str) -> Diagnostic:
    """There is no room for a file, or the disk fails."""
    title = f"the disk fails where `{path}` is written"
    why = "half a file would be taken for the whole; what was there before still is"
    return Diagnostic(code="E0629", title=title, notes=(reason.lower(),), why=why, help=f"make room, or {instead}")


def nothing_to_resume(path: str, option: str = "-o RESULT", resume: str = "--resume") -> Diagnostic:
    """``resume`` without a result to go on from."""
    return Diagnostic(
        code="E0610",
        title="there is nothing to resume",
        notes=(f"`{path}` does not exist",),
        why="starting from nothing in silence would hide that an earlier run's work is missing",
        help=f"leave out `{resume}` for a first run, or name the earlier result with `{option}`",
    )


def result_exists(
    path: str, option: str = "-o RESULT", *, resume: str = "--resume", answers: str | None = None
) -> Diagnostic:
    """A run that would replace an earlier result, or the solver file that such a result ``answers``."""
    if answers is not None:
        return Diagnostic(
            code="E0611",
            title=f"`{path}` exists already",
            notes=(f"it answers a `{answers}` that is none of the files to be written",),
            why="an answer beside a file that it is not about would be read as an answer to that file",
            help=f"write into an empty folder with `{option}`, or remove the answers",
        )
    return Diagnostic(
        code="E0611",
        title=f"`{path}` exists already",
        why="what an earlier run certified would be lost",
        help=f"go on from it with `{resume}`, or write elsewhere with `{option}`",
    )


def unfitting(path: str, reason: str, why: str, instead: str) -> Diagnostic:
    """A result that belongs to something else than what is asked."""
    return Diagnostic(code="E0612", title=f"`{path}` does not fit", notes=(reason,), why=why, help=instead)


def not_of_its_kind(path: str, wanted: str, found: str, instead: str) -> Diagnostic:
    """A file of another kind than is ``wanted``, which is said with its article."""
    return Diagnostic(
        code="E0607",
        title=f"`{path}` is not {wanted}",
        notes=(found,),
        help=instead,
    )


def other_questions(path: str, what: str) -> Diagnostic:
    """A folder that does not ask what its spec, models and data ask."""
    return Diagnostic(
        code="E0626",
        title=f"`{path}` does not ask what the spec asks",
        notes=(what,),
        why="only answers are read from a folder: questions, and what decides them, are derived from the spec again",
        help="write the files again with `fairdsl compile`, and solve them",
    )


def nothing_to_recover(paths: Sequence[str], lacking: str, help_: str | None = None) -> Diagnostic:
    """No results, or results without their job; ``help_``: what makes them, where that is known."""
    listing = ", ".join(f"`{path}`" for path in paths)
    return Diagnostic(
        code="E0613",
        title=f"there is nothing to recover: {lacking}",
        notes=(f"looked at {listing}",),
        help=help_
        or "give the folder that `fairdsl compile` wrote, with its manifest and what answers its files, or results "
        "of jobs themselves",
    )


def outside_failed(name: str, what: str) -> Diagnostic:
    """A strategy or encoding of another package raises an exception, or is none."""
    return Diagnostic(
        code="E0628",
        title=f"`{name}` of another package fails",
        notes=(what,),
        why="what it would have done is not done, and nothing of ours stands in for it silently",
        help="tell its authors, or choose another one",
    )
