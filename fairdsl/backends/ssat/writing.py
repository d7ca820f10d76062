"""Instances as SDIMACS text: the same text for the same instance, in the subset that every solver reads.

Probabilities are plain decimals, since some solvers stop at ``1e-05``. One with at most 40 places is written out. Any
other is rounded to as many places as leave it, and 1 minus it, 17 significant digits: neither a small chance nor a
small risk becomes a certainty. Beside it stands what it is exactly, in a comment that fairdsl honours when it reads
the file.

    c COMMENT
    c name VARIABLE TEXT
    c exact VARIABLE NUMERATOR/DENOMINATOR
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from fairdsl.ir.plain_decimals import decimal_of, exact_places
from fairdsl.source.numbers import digits_of


def sdimacs_of(instance: Instance) -> str:
    """The text, with a line break at its end."""
    lines = [
        f"c exact {bound.variable} {digits_of(bound.chance.numerator)}/{digits_of(bound.chance.denominator)}"
        for bound in sorted(instance.prefix, key=lambda bound: bound.variable)
        if bound.chance is not None and exact_places(bound.chance) is None
    ]
    lines.append(f"p cnf {instance.variables} {len(instance.clauses)}")
    lines += [
        f"{kind} {' '.join([str(bound.variable) for bound in bounds])} 0"
        for kind, bounds in groupby(instance.prefix, key=_kind)
    ]
    return _about(instance.comments, instance.names) + _text(lines, instance.clauses)


def _about(comments: Iterable[str], names: Mapping[int, str]) -> str:
    """Lines for readers: what the file is about, and what variables stand for."""
    lines = []
    for comment in comments:
        # What begins like the two kinds of comments that are read gets a sign in front, so that it is none of them.
        for line in comment.splitlines() or [""]:
            words = line.strip()
            lines.append(f"c # {words}" if words.startswith(("name", "exact")) else f"c {words}".rstrip())
    lines += [f"c name {variable} {' '.join(names[variable].split())}".rstrip() for variable in sorted(names)]
    return "".join([f"{line}\n" for line in lines])


def _text(lines: Iterable[str], clauses: Iterable[Clause]) -> str:
    """Lines, and then a line for each clause."""
    return "\n".join([*lines, *[" ".join(map(str, (*clause, 0))) for clause in clauses], ""])


def _kind(bound: Bound) -> str:
    """The beginning of the line that binds a variable; neighbours with the same one share it."""
    letter = bound.quantifier.value
    return letter if bound.chance is None else f"{letter} {decimal_of(bound.chance)}"


# ---- Three forms of an instance in normal form ---------------------------------------------------
# * ``sdimacs``: the prefix and the clauses, for solvers of stochastic satisfiability. Its value is the number.
# * ``mcc``: the weighted and projected count of the Model Counting Competition (2021 and later): chances are shown and
#   weighted, choices within them are projected away. The weighted count is the number.
# * ``dimacs``: the unweighted projected count of the theorem of :func:`counting`. The number of
#   models that differ in the shown variables, over the product of ``out_of``, is the number: no probability is
#   rounded, and any exact counter says it exactly.
#
# In the first two, probabilities without a short decimal are rounded (:mod:`fairdsl.backends.ssat.writing`), each
# by less than 10^-17, so that by the theorem of ``plain.rounded`` n of them move the value by at most n 10^-17.

#: What rounding one probability moves a value by, at most.
ROUNDING = Fraction(1, 10**17)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file, and what its answers have to be read with."""

    text: str
    about: dict[str, Any]


def as_sdimacs(instance: Instance, text: str, names: Mapping[int, str], comments: Iterable[str]) -> Written:
    """For solvers of stochastic satisfiability; ``text`` is the instance without names and comments."""
    quantifier, first = next(instance.blocks)
    chosen = [bound.variable for bound in first] if quantifier is Quantifier.EXISTS else []
    return Written(text=_about(comments, names) + text, about=_sizes(instance) | {"choices": chosen})


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
    return Written(text=_text(lines, instance.clauses), about=_sizes(instance))


def as_dimacs(instance: Instance, comments: tuple[str, ...]) -> Written:
    """For model counters."""
    asked = counting(instance)
    kind = "mc" if len(asked.kept) == asked.variables else "pmc"
    lines = [f"c t {kind}", *_comments(instance, comments)]
    lines += [f"p cnf {asked.variables} {len(asked.clauses)}", *_shown(asked.kept)]
    about = {"variables": asked.variables, "clauses": len(asked.clauses), "out_of": [*map(digits_of, asked.out_of)]}
    return Written(text=_text(lines, asked.clauses), about=about)


def _sizes(instance: Instance) -> dict[str, Any]:
    chances = [bound.chance for bound in instance.prefix if bound.chance is not None]
    return {
        "variables": instance.variables,
        "clauses": len(instance.clauses),
        "chances": len(chances),
        "rounded": sum([exact_places(chance) is None for chance in chances]),
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


# ---- chances as counts -------------------------------------------------------------------------
# Theorem (counting chances). Let random variable i be true with probability ``a_i / d_i``. Give it
# ``m_i`` fresh variables, read as a number y_i of m_i bits, and the clauses that say: ``y_i < a_i`` where
# it is true and ``y_i < d_i - a_i`` where it is false. Then a truth assignment of the random variables has the
# product of a_i and d_i - a_i extensions to the fresh ones, so that the number of assignments to random and fresh
# variables under which the clauses can be satisfied is the value times the product of all d_i. The counter
# projects to these variables: innermost choices are there if any choice is.
#
# So there are chances, and choices within them, and nothing else. The counts are whole numbers of any size; the
# weighted counter takes and returns double. Both rest on Ganak's word that no two components of its cache share a
# hash, which its authors give up to a probability that they keep very small.


@dataclass(frozen=True, slots=True)
class Counting:
    """An instance as a count: the models of ``clauses`` that differ in ``kept``, over the product of ``out_of``."""

    variables: int
    clauses: tuple[Clause, ...]
    kept: tuple[int, ...]
    out_of: tuple[int, ...]


def counting(instance: Instance) -> Counting:
    """The count of the theorem, for an instance of chances, and choices within them."""
    clauses, kept, denominators, variables = list(instance.clauses), list[int](), list[int](), instance.variables
    for bound in instance.prefix:
        if bound.chance is None:
            continue
        true, out_of = bound.chance.numerator, bound.chance.denominator
        bits = (max(true, out_of - true) - 1).bit_length()
        fresh = tuple(range(variables + 1, variables + bits + 1))
        clauses += below(fresh, true, -bound.variable) + below(fresh, out_of - true, bound.variable)
        kept += [bound.variable, *fresh]
        denominators.append(out_of)
        variables += bits
    return Counting(variables, tuple(clauses), tuple(kept), tuple(denominators))


def below(number: tuple[int, ...], limit: int, unless: int) -> list[Clause]:
    """Clauses that say: ``unless`` holds or the number, lowest bit first, is less than the limit (at least 1).

    A number exceeds ``limit - 1`` exactly if some bit is 1 where that one has 0, and all higher ones are at
    least as great.
    """
    most = limit - 1
    clauses = []
    for place, bit in enumerate(number):
        if not most >> place & 1:
            higher = [-each for above, each in enumerate(number) if above > place and most >> above & 1]
            clauses.append((unless, -bit, *higher))
    return clauses
