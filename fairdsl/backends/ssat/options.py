"""What can be set for `ssat`: how groups are asked about, by whom, and how sums become clauses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from fairdsl.options import Section, option
from fairdsl.options.kinds import OneOf, Text


class Groups(Enum):
    """How the groups of a metric are asked about."""

    ENUMERATE = "enumerate"  # each by itself
    LEARN = "learn"  # the solver finds the most and the least favoured


class PbEncoding(Enum):
    """How a weighted sum becomes clauses: by a decision diagram, or by PySAT's encodings that keep model counts."""

    DIAGRAM = "diagram"
    ADDER = "adder"
    MIXED_RADIX = "mixedradix"


@dataclass(frozen=True, kw_only=True)
class SsatOptions(Section):
    """How questions about groups become SDIMACS files, and who solves them (docs/ssat.md)."""

    section: ClassVar[str] = "ssat"

    groups: Groups | None = option(
        None,
        "Ask about each group of a metric by itself, or let the solver find the most and the least favoured one.",
        OneOf(Groups),
        unset="enumerate, up to 256 groups",
    )
    solver: str | None = option(
        None,
        "Ask this solver for stochastic satisfiability: ssatABC, SharpSSAT, pyganak, pyganak-double or pysdd, or a "
        "program.",
        Text("NAME|PATH|NAME=PATH", "the name of a solver or the path of a program", "pysdd"),
        unset="the embedded one",
    )
    pb_encoding: PbEncoding = option(
        PbEncoding.DIAGRAM,
        "How weighted sums become clauses: a decision diagram, or PySAT's binary adder or mixed-radix sorter. "
        "All of them keep model counts.",
        OneOf(PbEncoding),
    )

    def ready(self) -> None:
        """Look for the solver, where one is asked for."""
        if self.solver is not None:
            from fairdsl.backends.ssat.solvers import solver_of

            solver_of(self.solver)
