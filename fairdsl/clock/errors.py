"""What the clock says: work that was not finished when the time was up."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic


def not_in_time(phase: str, during: str) -> Diagnostic:
    """A phase before there are verdicts did not finish; ``during`` is what was going on in it."""
    return Diagnostic(
        code="E0625",
        title=f"the time was up before {phase} was finished",
        notes=(f"it ended while {during}",) if during else (),
        why="nothing was decided yet, so there is no verdict to report: nothing holds, and nothing is violated",
        help="give more time with `--timeout SECONDS`",
    )
