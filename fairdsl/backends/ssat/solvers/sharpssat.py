"""SharpSSAT: search with component caching and clause learning, on top of the model counter sharpSAT.

Fan and Jiang, *SharpSSAT: a witness-generating stochastic Boolean satisfiability solver*, AAAI 2023;
github.com/NTU-ALComLab/SharpSSAT.

What was found out about it, and is kept here: it answers prefixes of E and R in any alternation; A only with
``-u``. Probabilities are parsed as float32. The answer line is left out with ``-q``; its own time limit
is not kept when it solves SSAT. It writes files beside the instance and into the current folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.solvers.adapter import FLOAT, SEVEN_DIGITS, Printed, shape, widened
from fairdsl.backends.ssat.solvers.text import number, sdimacs

__all__ = ["SharpSsat"]

_FILE = "instance.sdimacs"
_VALUE = re.compile(r"^\s*#\s*satisfying probability\s*=\s*([0-9.eE+-]+)\s*$", re.MULTILINE)


class SharpSsat:
    """The adapter."""

    name = "SharpSSAT"
    programs: tuple[str, ...] = ("SharpSSAT",)
    digits: int | None = (
        20  # all that float32 tells apart, down to 1e-13; further down a part of the error that is added
    )
    about = "from probabilities in float32, printed with seven digits"

    def missing(self) -> str | None:
        """Nothing but the program."""
        return None

    def unfit(self, instance: Instance) -> str | None:
        """Any prefix."""
        return None

    def command(self, program: str, folder: Path, instance: Instance) -> list[str]:
        """``SharpSSAT -s -p FILE``, with ``-u`` where a variable is universal."""
        (folder / _FILE).write_text(sdimacs(instance), encoding="ascii")
        universal = ["-u"] if "A" in shape(instance) else []
        return [program, "-s", "-p", *universal, _FILE]

    def read(self, output: str, instance: Instance) -> Printed | None:
        """The value, or nothing."""
        values = {number(text) for text in _VALUE.findall(output)}
        if len(values) != 1:
            return None
        (value,) = values
        return None if value is None else widened(value, value, instance, unit=FLOAT, relative=SEVEN_DIGITS)
