"""What is wrong with files of stochastic satisfiability, each mistake with its place, and with solvers of others."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.source import Span

_FORMAT = "docs/ssat.md has the format"


def not_sdimacs(path: str, what: str, place: Span | None, instead: str) -> Diagnostic:
    """A file, or a line of it, that is not SDIMACS."""
    return Diagnostic(
        code="E0640",
        title=f"`{path}` cannot be read as an SDIMACS instance",
        primary=None if place is None else Label(place, what),
        notes=() if place is not None else (what,),
        why="the value of what was understood in part would look like the answer",
        help=f"{instead}; {_FORMAT}",
    )


def no_probability(text: str, place: Span) -> Diagnostic:
    """What stands where a random variable has its probability is none."""
    return Diagnostic(
        code="E0641",
        title=f"`{text}` is not a probability",
        primary=Label(place, "of these variables being true"),
        why="solvers that take such a number print a value, and it is the probability of nothing",
        help="write a number from 0 to 1: `0.3`, `3e-1` or, exactly, `1/3`",
    )


def twice_bound(variable: int, again: Span, before: Span) -> Diagnostic:
    """The prefix names a variable twice."""
    return Diagnostic(
        code="E0642",
        title=f"variable {variable} is bound twice",
        primary=Label(again, "here again"),
        secondary=(Label(before, "bound here"),),
        why="the value depends on where in the prefix a variable stands, and on its quantifier",
        help="leave it in one line of the prefix",
    )


def not_counted(variable: int, variables: int, place: Span, header: Span) -> Diagnostic:
    """A variable with a number beyond those of the header."""
    return Diagnostic(
        code="E0643",
        title=f"there is no variable {variable}",
        primary=Label(place, f"the variables are 1 to {variables}" if variables else "there are no variables"),
        secondary=(Label(header, "as the header says"),),
        why="a slip in a number would make a variable of its own, free to satisfy its clauses",
        help="correct the number, or count the variable in the header: `p cnf VARIABLES CLAUSES`",
    )


def clauses_miscounted(announced: int, found: int, place: Span) -> Diagnostic:
    """More or fewer clauses than the header says."""
    return Diagnostic(
        code="E0644",
        title=f"the header announces {announced:,} clauses, and there are {found:,}",
        primary=Label(place, "announced here" if found < announced else "the first that is not counted"),
        why="a file that was cut off, or has clauses that some solvers pass over, is another instance",
        help=f"complete the file, or write the number of its clauses into the header: `p cnf VARIABLES {found}`",
    )


def exact_contradicts(variable: int, what: str, place: Span, written: Span | None) -> Diagnostic:
    """A comment ``c exact`` that is not about the probability in the prefix."""
    return Diagnostic(
        code="E0645",
        title=f"the exact probability of variable {variable} does not fit the prefix",
        primary=Label(place, what),
        secondary=() if written is None else (Label(written, "this is what other solvers read"),),
        why="a file that means one number to fairdsl and another to other solvers has no value",
        help="change both lines together, or leave out the comment: then the prefix counts as it is written",
    )


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
