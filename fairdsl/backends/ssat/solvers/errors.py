"""What is said about solvers that others wrote: none of that name, none installed, none that answers the prefix."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic

__all__ = ["missing_solver", "unfit_prefix", "unknown_solver"]


def missing_solver(name: str, reason: str, instead: str) -> Diagnostic:
    """A known solver that is not on this machine."""
    return Diagnostic(
        code="E0650",
        title=f"the SSAT solver `{name}` cannot be used here",
        notes=(reason,),
        why="an answer of another solver than the one asked for would pass for its own",
        help=instead,
    )


def unknown_solver(command: str, known: Sequence[str]) -> Diagnostic:
    """A program of which nobody knows how it is called and what its output means."""
    return Diagnostic(
        code="E0651",
        title=f"`{command}` is not an SSAT solver that fairdsl knows",
        notes=(f"there are adapters to {', '.join(known)}",),
        why="solvers differ in what they answer wrongly, and each adapter keeps its solver's rules",
        help="say which solver a program is: `ssatABC=/path/to/program`",
    )


def unfit_prefix(name: str, reason: str) -> Diagnostic:
    """An instance that the solver is known to answer wrongly, or not at all."""
    return Diagnostic(
        code="E0652",
        title=f"`{name}` does not answer this instance",
        notes=(reason,),
        why="solvers print numbers for prefixes they do not treat, and the numbers are wrong",
        help="name `SharpSSAT`, or name no solver: the embedded one answers any prefix",
    )
