"""ssatABC: branching and counting on binary decision diagrams, as the command `ssat` of ABC.

Lee, Wang and Jiang, *Solving stochastic Boolean satisfiability under random-exist quantification*, IJCAI 2017, and
*Solving exist-random quantified stochastic Boolean satisfiability via clause selection*, IJCAI 2018;
github.com/NTU-ALComLab/ssatABC.

What was found out about it, and is kept here: it answers E R, R E and E R E; other prefixes it leaves at bounds of
0 and 1 with exit code 0, or answers wrongly (R E R). A probability is ``0.`` and at most 15 digits. The answer is a
line `Satisfying probability`, printed with seven digits; where there are only bounds, two lines say so.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.solvers.adapter import DOUBLE, SEVEN_DIGITS, Printed, shape, widened
from fairdsl.backends.ssat.solvers.text import number, sdimacs

__all__ = ["SsatAbc", "with_choice_within"]

_FILE = "instance.sdimacs"
_NUMBER = r"([0-9.eE+-]+)"
_VALUE = re.compile(rf"^\s*> Satisfying probability:\s*{_NUMBER}\s*$", re.MULTILINE)
_UPPER = re.compile(rf"^\s*> (?:Best )?[Uu]pper bound\s*[:=]\s*{_NUMBER}\s*$", re.MULTILINE)
_LOWER = re.compile(rf"^\s*> (?:Best )?[Ll]ower bound\s*[:=]\s*{_NUMBER}\s*$", re.MULTILINE)
_CHOICE = re.compile(r"Found an optimizing assignment to exist vars:\s*\n\s*((?:-?\d+\s+)*)0\s*$", re.MULTILINE)


class SsatAbc:
    """The adapter."""

    name = "ssatABC"
    programs: tuple[str, ...] = ("ssatABC", "abc")
    digits: int | None = 15
    about = "in double precision, printed with seven digits"

    def missing(self) -> str | None:
        """Nothing but the program."""
        return None

    def unfit(self, instance: Instance) -> str | None:
        """Only E R, R E and E R E; R alone is given a choice within."""
        blocks = shape(instance)
        if blocks in ("ER", "RE", "ERE", "R"):
            return None
        return f"it answers the prefixes E R, R E and E R E, and this one is {' '.join(blocks)}"

    def command(self, program: str, folder: Path, instance: Instance) -> list[str]:
        """``abc -c "ssat -v FILE"``, where -v makes it name its choice."""
        asked = with_choice_within(instance) if shape(instance) == "R" else instance
        (folder / _FILE).write_text(sdimacs(asked), encoding="ascii")
        return [program, "-c", f"ssat -v {_FILE}"]

    def read(self, output: str, instance: Instance) -> Printed | None:
        """The value; else the bounds; else nothing."""
        values = {number(text) for text in _VALUE.findall(output)}
        if len(values) == 1:
            (value,) = values
            return None if value is None else self._answer(value, value, output, instance)
        lower, upper = _only(_LOWER.findall(output)), _only(_UPPER.findall(output))
        if values or lower is None or upper is None:
            return None
        return self._answer(lower, upper, output, instance)

    def _answer(self, low: Fraction, high: Fraction, output: str, instance: Instance) -> Printed | None:
        found = widened(low, high, instance, unit=DOUBLE, relative=SEVEN_DIGITS)
        if found is None or not found.solved:
            return found
        return Printed(low=found.low, high=found.high, choice=_choice(output, instance))


def _only(texts: list[str]) -> Fraction | None:
    values = {number(text) for text in texts}
    return values.pop() if len(values) == 1 else None


def _choice(output: str, instance: Instance) -> dict[int, bool] | None:
    """The last assignment printed, if it names every variable of the outermost block."""
    quantifier, outermost = next(instance.blocks)
    printed = _CHOICE.findall(output)
    if quantifier is not Quantifier.EXISTS or not printed:
        return None
    truths = {abs(literal): literal > 0 for literal in map(int, printed[-1].split())}
    if set(truths) != {bound.variable for bound in outermost}:
        return None
    return truths


def with_choice_within(instance: Instance) -> Instance:
    """An instance of chances alone as one of chances and, within them, one choice; with the same value.

    A clause ``a or b or ...`` is split by a new variable x into ``a or x`` and ``not x or b or ...``: both can be
    satisfied by some x exactly if the clause holds.
    """
    first, *others = instance.clauses
    split = instance.variables + 1
    return Instance(
        variables=split,
        prefix=(*instance.prefix, Bound(split, Quantifier.EXISTS)),
        clauses=((first[0], split), (-split, *first[1:]), *others),
    )
