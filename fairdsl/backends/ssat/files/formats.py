"""Three forms of an instance in normal form.

* ``sdimacs``: the prefix and the clauses, for solvers of stochastic satisfiability. Its value is the number.
* ``mcc``: the weighted and projected count of the Model Counting Competition (2021 and later): chances are shown and
  weighted, choices within them are projected away. The weighted count is the number.
* ``dimacs``: the unweighted projected count of the theorem of :mod:`fairdsl.backends.ssat.solvers.ganak`. The number of
  models that differ in the shown variables, over the product of ``out_of``, is the number: no probability is
  rounded, and any exact counter says it exactly.

In the first two, probabilities without a short decimal are rounded (:mod:`fairdsl.backends.ssat.sdimacs.write`), each
by less than 10^-17, so that by the theorem of ``solvers.plain.rounded`` n of them move the value by at most n 10^-17.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from fairdsl.backends.ssat.instance import Instance, Quantifier
from fairdsl.backends.ssat.sdimacs import sdimacs_of
from fairdsl.backends.ssat.solvers.ganak import counting
from fairdsl.ir.plain_decimals import decimal_of
from fairdsl.source.numbers import digits_of

__all__ = ["ROUNDING", "Written", "as_dimacs", "as_mcc", "as_sdimacs"]

#: What rounding one probability moves a value by, at most.
ROUNDING = Fraction(1, 10**17)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file, and what its answers have to be read with."""

    text: str
    about: dict[str, Any]


def as_sdimacs(instance: Instance, comments: tuple[str, ...]) -> Written:
    """For solvers of stochastic satisfiability."""
    quantifier, first = next(instance.blocks)
    chosen = [bound.variable for bound in first] if quantifier is Quantifier.EXISTS else []
    text = sdimacs_of(replace(instance, comments=comments))
    return Written(text=text, about=_about(instance) | {"choices": chosen})


def as_mcc(instance: Instance, comments: tuple[str, ...]) -> Written:
    """For weighted model counters."""
    chances = [bound for bound in instance.prefix if bound.chance is not None]
    shown = [bound.variable for bound in chances]
    lines = [f"c t {'wmc' if len(shown) == instance.variables else 'pwmc'}", *_comments(instance, comments)]
    lines += [
        f"c exact {bound.variable} {digits_of(bound.chance.numerator)}/{digits_of(bound.chance.denominator)}"
        for bound in chances
        if bound.chance is not None and Fraction(decimal_of(bound.chance)) != bound.chance
    ]
    lines += [f"p cnf {instance.variables} {len(instance.clauses)}", *_shown(shown)]
    for bound in chances:
        assert bound.chance is not None
        written = Fraction(decimal_of(bound.chance))
        lines.append(f"c p weight {bound.variable} {decimal_of(bound.chance)} 0")
        # Of the rounded number, so that the two add up to 1.
        lines.append(f"c p weight -{bound.variable} {_short(1 - written)} 0")
    return Written(text=_text(lines, instance.clauses), about=_about(instance))


def as_dimacs(instance: Instance, comments: tuple[str, ...]) -> Written:
    """For model counters."""
    asked = counting(instance)
    kind = "mc" if len(asked.kept) == asked.variables else "pmc"
    lines = [f"c t {kind}", *_comments(instance, comments)]
    lines += [f"p cnf {asked.variables} {len(asked.clauses)}", *_shown(asked.kept)]
    about = {"variables": asked.variables, "clauses": len(asked.clauses), "out_of": [*map(digits_of, asked.out_of)]}
    return Written(text=_text(lines, asked.clauses), about=about)


def _about(instance: Instance) -> dict[str, Any]:
    chances = [bound.chance for bound in instance.prefix if bound.chance is not None]
    return {
        "variables": instance.variables,
        "clauses": len(instance.clauses),
        "chances": len(chances),
        "rounded": sum(Fraction(decimal_of(chance)) != chance for chance in chances),
    }


def _short(written: Fraction) -> str:
    """A decimal of as many places as it takes."""
    places = next(count for count in range(len(str(written.denominator)) * 4) if 10**count % written.denominator == 0)
    return "0." + str(int(written * 10**places)).rjust(places, "0")


def _comments(instance: Instance, comments: Iterable[str]) -> Iterator[str]:
    """Comments that no counter takes for one of its own lines."""
    for comment in comments:
        for line in comment.splitlines():
            yield f"c # {line.strip()}" if line.split()[:1] in (["p"], ["t"], ["s"], ["ind"]) else f"c {line.strip()}"
    for variable, name in sorted(instance.names.items()):
        yield f"c name {variable} {' '.join(name.split())}"


def _shown(variables: Iterable[int]) -> list[str]:
    return [f"c p show {' '.join(map(str, variables))} 0"]


def _text(lines: Iterable[str], clauses: Iterable[tuple[int, ...]]) -> str:
    every = [*lines, *(" ".join(map(str, (*clause, 0))) for clause in clauses)]
    return "\n".join(every) + "\n"
