"""Plain instances as text in the part of SDIMACS that every solver reads: header, prefix, clauses, no comments."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.source.numbers import read_number

__all__ = ["decimal", "number", "sdimacs"]

#: Far more digits than any solver reads.
_LONGEST = 64


def sdimacs(instance: Instance) -> str:
    """The file; the probabilities are those of ``rounded``, so that their decimals are exact."""
    lines = [f"p cnf {instance.variables} {len(instance.clauses)}"]
    for quantifier, bounds in instance.blocks:
        if quantifier is Quantifier.RANDOM:
            lines += [_chance(bound) for bound in bounds]
        else:
            variables = " ".join(str(bound.variable) for bound in bounds)
            lines.append(f"{quantifier.value} {variables} 0")
    lines += [" ".join(map(str, clause)) + " 0" for clause in instance.clauses]
    return "\n".join(lines) + "\n"


def _chance(bound: Bound) -> str:
    assert bound.chance is not None
    return f"r {decimal(bound.chance)} {bound.variable} 0"


def decimal(chance: Fraction) -> str:
    """A number between 0 and 1, both excluded, as ``0.`` and digits, never with an exponent.

    ValueError if it takes more than 64 digits.
    """
    scale = next((10**digits for digits in range(_LONGEST) if (chance * 10**digits).denominator == 1), None)
    if scale is None:
        raise ValueError(f"{chance} is no decimal of at most {_LONGEST} digits")
    return "0." + str(int(chance * scale)).zfill(len(str(scale)) - 1)


def number(text: str) -> Fraction | None:
    """A number as C++ prints it; None for `nan`, `inf` and everything else."""
    try:
        return None if "/" in text else read_number(text)
    except ValueError:
        return None
