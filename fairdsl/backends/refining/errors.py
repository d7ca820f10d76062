"""What is said of clusters that do not answer."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic

__all__ = ["no_cluster"]


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
