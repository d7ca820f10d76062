"""What is said of clusters that do not answer, of files that are not jobs, and of results that do not fit."""

from __future__ import annotations

from fairdsl.backends.errors import unfitting
from fairdsl.diagnostics import Diagnostic

_EVIDENCE = "job and result files are evidence: what was altered or cut off would vouch for something else"


def no_cluster(address: str, reason: str) -> Diagnostic:
    """An option ``scheduler`` that leads nowhere, be it ``intervals.scheduler`` or that of another engine."""
    return Diagnostic(
        code="E0614",
        title=f"no Dask cluster can be used at `{address}`",
        notes=(reason,),
        why="a run on this machine alone would pass for one on the cluster",
        help="start `dask scheduler` and workers that have `fairdsl[cluster]`, or leave out "
        "`intervals.scheduler`, `leaf_boxes.scheduler` or `rates.scheduler`, whichever is set",
    )


def newer_version(path: str, schema: str, known: str) -> Diagnostic:
    """A file of a later fairdsl."""
    return Diagnostic(
        code="E0608",
        title=f"`{path}` is from a newer fairdsl",
        notes=(f"it follows `{schema}`; this fairdsl reads `{known}`",),
        why="a newer format may say things that this version would silently leave out",
        help="install the fairdsl that wrote it, or write the file again with this one",
    )


def damaged(path: str, what: str) -> Diagnostic:
    """A job or result that was cut off or changed."""
    return Diagnostic(
        code="E0609",
        title=f"`{path}` is damaged",
        notes=(what,),
        why=_EVIDENCE,
        help="copy it again from where it was written, or write it again",
    )


def refuted(path: str, what: str) -> Diagnostic:
    """A result that claims what does not follow, or is not a refinement of its job at all."""
    return Diagnostic(
        code="E0627",
        title=f"what `{path}` claims does not come out",
        notes=(what,),
        why="one claim that is wrong is reason enough to believe none of the others",
        help="solve the job again: `fairdsl solve NAME.job`",
    )


def unfitting_part(path: str, reason: str) -> Diagnostic:
    """A result that belongs to another job, shard, or way of sharing out."""
    why = "shares of different questions, or of parts that overlap, cannot be added up"
    return unfitting(path, reason, why, "give the results of one job, all made with the same `--shard .../n`")
