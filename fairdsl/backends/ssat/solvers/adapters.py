"""Solvers that others wrote: of each what it answers, how it is called, and how its output is read.

Error analysis. A solver with unit roundoff u (2^-24 where probabilities are parsed as float32, 2^-53 for double)
works with weights ``w1`` of true and ``w0`` of false instead of p and 1 - p. ``|w1 - p| <= u p`` and ``w0`` is
1 - ``w1`` up to u, so that ``w1 f1 + w0 f0`` differs from ``p f1 + (1 - p) f0`` by at most
``u p |f1 - f0| + u f0``, which is at most 2 u times the greatest f. Exchanging the variables one after the other
moves the value by at most 2 u for each, times what the other weights sum to, at most (1 + u)^n: below 2 while
n u < 1/2, and from there on the sum of ``4 u`` over n variables is 1 or more and says nothing. So n random
variables are worth an absolute error of ``4 u n``, in any prefix (maxima and minima move no further).

Arithmetic in double rounds at most 4 times for each variable on the way to a result that is a sum, product or
maximum of numbers that are not negative: a relative error below 4 n 2^-53. A result that is printed with d
significant digits is wrong by half a unit of the last one, at most ``10^(1-d) / 2`` of itself: 5e-7 for seven.
``relative`` = 10^(1-d) covers both for n below 10^8. Differences from 1, as solvers form them for
what is left out, add absolute errors of 2^-53 that the factor 4 covers again. ``_TINY`` covers underflow.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from fairdsl.backends.ssat import errors
from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.reading import number_of
from fairdsl.backends.ssat.solvers.libraries import printed, program_of
from fairdsl.backends.ssat.writing import sdimacs_of
from fairdsl.diagnostics import DiagnosticError

#: Unit roundoffs.
FLOAT = Fraction(1, 2**24)
DOUBLE = Fraction(1, 2**53)
#: How far a number of seven significant digits may be from what was printed, as a part of it.
SEVEN_DIGITS = Fraction(1, 10**6)
#: Rounding to double of a sum that was formed with 128 bits: far more than 2^-53.
_DOUBLE_RESULT = Fraction(1, 10**12)
_TINY = Fraction(1, 10**30)
_FILE = "instance.sdimacs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a solver's output says about the instance that it was given, already as wide as it has to be.

    ``solved``: it is a value and not only bounds. ``choice`` is by the numbers of that instance.
    """

    low: Fraction
    high: Fraction
    solved: bool = True
    choice: Mapping[int, bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One solver: which instances it gets right, how it is called, and what its output means."""

    #: As ``ssat.solver`` names it, and what its numbers rest on, in words.
    name: str
    about: str
    #: What the output says about a plain instance, None where it gives neither value nor bounds; total.
    read: Callable[[str, Instance], Printed | None]
    #: File names of its program, the first of them preferred, and what it is called with.
    programs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    #: What is put before its last argument where a variable is universal.
    universal: tuple[str, ...] = ()
    #: Of a library: its package, as it is imported and as it is installed, and the function of ours that asks it.
    package: tuple[str, str] | None = None
    function: str = ""
    #: Decimals that probabilities are written with; None: they are handed over exactly.
    digits: int | None = None
    #: The prefixes that it answers, and in words; any, where none are listed.
    prefixes: tuple[str, ...] = ()
    answers: str = ""

    def unfit(self, instance: Instance) -> str | None:
        """Why this plain instance is none of those that the solver gets right, in words; None if it is one."""
        blocks = shape(instance)
        if not self.prefixes or blocks in self.prefixes:
            return None
        return f"{self.answers}, and this {'one ' if self.package is None else ''}is {' '.join(blocks)}"

    def command(self, program: str, folder: Path, instance: Instance) -> list[str]:
        """Write the file it reads into the folder; the command line."""
        if self.programs and shape(instance) == "R" and self.prefixes:
            instance = with_choice_within(instance)
        (folder / _FILE).write_text(sdimacs_of(instance), encoding="ascii")
        if self.package is not None:
            return [program, *program_of(self.function, _FILE)]
        universal = self.universal if "A" in shape(instance) else ()
        return [program, *self.arguments[:-1], *universal, self.arguments[-1]]


def shape(instance: Instance) -> str:
    """The blocks of the prefix as letters, outermost first: ``ERE``."""
    return "".join(quantifier.value.upper() for quantifier, _ in instance.blocks)


def widened(low: Fraction, high: Fraction, instance: Instance, *, unit: Fraction, relative: Fraction) -> Printed | None:
    """Numbers that were computed and printed in floating point, as wide as the module says, within 0 to 1.

    None if they are not probabilities: negative, out of order, or above 1 by more than they may be wrong.
    """
    random = sum(bound.quantifier is Quantifier.RANDOM for bound in instance.prefix)
    absolute = 4 * unit * random + _TINY
    least, most = low * (1 - relative) - absolute, high * (1 + relative) + absolute
    if low < 0 or low > high or least > 1:
        return None
    solved = low == high
    return Printed(low=max(Fraction(0), least), high=min(Fraction(1), most), solved=solved)


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


# ---- what is printed -----------------------------------------------------------------------------

_NUMBER = r"([0-9.eE+-]+)"
_ABC_VALUE = re.compile(rf"^\s*> Satisfying probability:\s*{_NUMBER}\s*$", re.MULTILINE)
_ABC_UPPER = re.compile(rf"^\s*> (?:Best )?[Uu]pper bound\s*[:=]\s*{_NUMBER}\s*$", re.MULTILINE)
_ABC_LOWER = re.compile(rf"^\s*> (?:Best )?[Ll]ower bound\s*[:=]\s*{_NUMBER}\s*$", re.MULTILINE)
_ABC_CHOICE = re.compile(r"Found an optimizing assignment to exist vars:\s*\n\s*((?:-?\d+\s+)*)0\s*$", re.MULTILINE)
_SHARP_VALUE = re.compile(rf"^\s*#\s*satisfying probability\s*=\s*{_NUMBER}\s*$", re.MULTILINE)


def _only(pattern: re.Pattern[str], output: str) -> Fraction | None:
    """The one number that the lines of a kind have; two lines with different numbers say nothing."""
    values = {number_of(text) for text in pattern.findall(output)}
    return values.pop() if len(values) == 1 else None


def _read_abc(output: str, instance: Instance) -> Printed | None:
    """The value and its choice; else the bounds; else nothing."""
    value = _only(_ABC_VALUE, output)
    if value is None:
        lower, upper = _only(_ABC_LOWER, output), _only(_ABC_UPPER, output)
        if _ABC_VALUE.search(output) or lower is None or upper is None:
            return None
    else:
        lower = upper = value
    found = widened(lower, upper, instance, unit=DOUBLE, relative=SEVEN_DIGITS)
    if found is None or not found.solved:
        return found
    return Printed(low=found.low, high=found.high, choice=_choice(output, instance))


def _choice(output: str, instance: Instance) -> dict[int, bool] | None:
    """The last assignment printed, if it names every variable of the outermost block."""
    quantifier, outermost = next(instance.blocks)
    assignments = _ABC_CHOICE.findall(output)
    if quantifier is not Quantifier.EXISTS or not assignments:
        return None
    truths = {abs(literal): literal > 0 for literal in map(int, assignments[-1].split())}
    return truths if set(truths) == {bound.variable for bound in outermost} else None


def _read_sharp(output: str, instance: Instance) -> Printed | None:
    value = _only(_SHARP_VALUE, output)
    return None if value is None else widened(value, value, instance, unit=FLOAT, relative=SEVEN_DIGITS)


def _read_exactly(output: str, instance: Instance) -> Printed | None:
    found = printed(output)
    if found is None or found.value > 1:
        return None
    return Printed(low=found.value, high=found.value, choice=found.choice)


def _read_double(output: str, instance: Instance) -> Printed | None:
    found = printed(output)
    if found is None:
        return None
    return widened(found.value, found.value, instance, unit=DOUBLE, relative=_DOUBLE_RESULT)


ADAPTERS = (
    # Lee, Wang and Jiang, IJCAI 2017 and 2018; github.com/NTU-ALComLab/ssatABC: the command `ssat` of ABC. Other
    # prefixes it leaves at bounds of 0 and 1 with exit code 0, or answers wrongly (R E R); R alone is given a choice
    # within. A probability is `0.` and at most 15 digits; -v makes it name its choice.
    Adapter(
        name="ssatABC",
        about="in double precision, printed with seven digits",
        read=_read_abc,
        programs=("ssatABC", "abc"),
        arguments=("-c", f"ssat -v {_FILE}"),
        digits=15,
        prefixes=("ER", "RE", "ERE", "R"),
        answers="it answers the prefixes E R, R E and E R E",
    ),
    # Fan and Jiang, AAAI 2023; github.com/NTU-ALComLab/SharpSSAT. A only with -u; probabilities are parsed as float32,
    # which 20 decimals tell apart down to 1e-13 (further down they are a part of the error that is added); the answer
    # is left out with -q; its own time limit is not kept, and it writes files beside the instance.
    Adapter(
        name="SharpSSAT",
        about="from probabilities in float32, printed with seven digits",
        read=_read_sharp,
        programs=("SharpSSAT",),
        arguments=("-s", "-p", _FILE),
        universal=("-u",),
        digits=20,
    ),
    # Sharma, Roy, Soos and Meel, GANAK, IJCAI 2019. Exact counts rest on its authors' word that no two components of
    # its cache share a hash; the weighted counter takes and returns double.
    Adapter(
        name="pyganak",
        about="by exact counts, up to collisions of hashes in Ganak's cache",
        read=_read_exactly,
        package=("pyganak", "pyganak"),
        function="count",
        prefixes=("R", "RE"),
        answers="it counts, for the prefixes R and R E",
    ),
    Adapter(
        name="pyganak-double",
        about="to double precision",
        read=_read_double,
        package=("pyganak", "pyganak"),
        function="weigh",
        prefixes=("R", "RE"),
        answers="it counts, for the prefixes R and R E",
    ),
    Adapter(
        name="pysdd",
        about="by a sentential decision diagram, in exact arithmetic",
        read=_read_exactly,
        package=("pysdd", "PySDD"),
        function="evaluate",
        prefixes=("R", "RE", "ER", "ERE", "AR", "ARE"),
        answers="it answers R, with one choice outside (E or A) and one within (E)",
    ),
)


# ---- which solver is meant, and where it is ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Solver:
    """An adapter and the program that it is for; libraries run in this very interpreter's program."""

    adapter: Adapter
    program: str


def available() -> tuple[str, ...]:
    """The names of the solvers that can be used here; imports nothing heavy."""
    found = []
    for adapter in ADAPTERS:
        try:
            solver_of(adapter.name)
        except DiagnosticError:
            continue
        found.append(adapter.name)
    return tuple(found)


def solver_of(command: str) -> Solver:
    """The solver that ``command`` means: a name, the path of a program with a known file name, or ``NAME=PATH``.

    DiagnosticError if it means none (E0651), or one that is not here (E0650).
    """
    name, equals, path = command.partition("=")
    adapter = _named(name) if equals else _named(command) or _called(Path(command).name)
    if adapter is None:
        raise DiagnosticError(errors.unknown_solver(command, [each.name for each in ADAPTERS]))
    if not adapter.programs:
        return Solver(adapter, _interpreter(adapter, given=path if equals else ""))
    if equals:
        return Solver(adapter, _program(adapter, path))
    # A name is looked for on PATH; what has a folder is a path.
    return Solver(adapter, _program(adapter, command) if os.sep in command else _found(adapter, command))


def _named(name: str) -> Adapter | None:
    return next((adapter for adapter in ADAPTERS if adapter.name.lower() == name.lower()), None)


def _called(file: str) -> Adapter | None:
    """By the file name of a program, without an extension."""
    stem = file.split(".")[0].lower()
    return next((each for each in ADAPTERS if stem in {program.lower() for program in each.programs}), None)


def _interpreter(adapter: Adapter, *, given: str) -> str:
    if given:
        instead = f"write `{adapter.name}`"
        raise DiagnosticError(errors.missing_solver(adapter.name, "it is a library and no program", instead))
    assert adapter.package is not None, "what is not a program is a library"
    imported, package = adapter.package
    if not installed(imported):
        instead = "pip install 'fairdsl[counting]'"
        raise DiagnosticError(errors.missing_solver(adapter.name, f"the package `{package}` is not installed", instead))
    return sys.executable


def installed(package: str) -> bool:
    """Whether the package can be imported; does not import it."""
    return find_spec(package) is not None


def _program(adapter: Adapter, path: str) -> str:
    """An absolute path: the program runs in another folder."""
    if not path or not Path(path).is_file():
        reason = f"there is no file `{path}`"
    elif not os.access(path, os.X_OK):
        reason = f"`{path}` is not a program that can be run"
    else:
        return str(Path(path).absolute())
    instead = f"name the program: `{adapter.name}=/path/to/{adapter.programs[-1]}`"
    raise DiagnosticError(errors.missing_solver(adapter.name, reason, instead))


def _found(adapter: Adapter, command: str) -> str:
    """The first of the solver's programs on PATH; the one that was named, if one was."""
    named = [program for program in adapter.programs if program.lower() == command.lower()]
    for program in dict.fromkeys([command, *named, *adapter.programs]):
        path = shutil.which(program)
        if path is not None:
            return str(Path(path).absolute())
    reason = f"there is no `{'` or `'.join(adapter.programs)}` on PATH"
    instead = f"name the program: `{adapter.name}=/path/to/{adapter.programs[-1]}`"
    raise DiagnosticError(errors.missing_solver(adapter.name, reason, instead))
