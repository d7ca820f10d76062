"""A network as BIF, the interchange format of Bayesian networks, for other tools.

BIF says nothing of how labels with commas or brackets are written, and readers differ, so cells that are not plain
word are states `s0`, `s1`, ... and a property of the variable says what each stands for. Probabilities have 17
decimals, the last of them shared out so that every row sums to exactly 1; what is shorter is exact. Combinations
that have no distribution are left out, and a property of the network says so; tools that need a distribution of each
refuse the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from fairdsl.ir.domain import Attribute
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal
from fairdsl.populations.cutting import show_cell

#: What a network's property says where combinations of parents have no distribution.
PARTIAL = "combinations without a distribution have probability 0"

_PLAIN = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_DIGITS = 17


def as_bif(network: Network) -> str:
    """The text of a BIF file; ValueError where a distribution is normal or approximate, which BIF cannot say."""
    if network.has_means:
        raise ValueError("BIF has no word for bins that are taken to be the means of their rows")
    states = [_states(cells, network.columns[place]) for place, cells in enumerate(network.cells)]
    note = f'    property "{PARTIAL}" ;\n' if any(not network.complete(factor) for factor in network.factors) else ""
    parts = [f"network {_word(network.name)} {{\n{note}}}\n"]
    for attribute, cells, names in zip(network.columns, network.cells, states, strict=True):
        parts.append(_variable(attribute, cells, names))
    parts.extend(_probability(network, factor, states) for factor in network.factors)
    return "".join(parts)


def decimals(row: Sequence[Fraction]) -> list[str]:
    """The probabilities with 17 decimals that sum to exactly 1; none that is positive becomes 0."""
    unit = 10**_DIGITS
    parts = [max(int(value * unit), 1) if value else 0 for value in row]
    rests = [value * unit - part for value, part in zip(row, parts, strict=True)]
    missing = unit - sum(parts)
    by_rest = sorted(range(len(row)), key=lambda index: rests[index], reverse=True)
    for index in by_rest[: max(missing, 0)]:
        parts[index] += 1
    parts[max(range(len(row)), key=lambda index: parts[index])] += min(missing, 0)
    return [_decimal(part) for part in parts]


def _decimal(part: int) -> str:
    digits = f"{part:0{_DIGITS + 1}d}"
    return f"{digits[:-_DIGITS]}.{digits[-_DIGITS:]}".rstrip("0").rstrip(".")


def _word(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "population"


def _states(cells: Sequence[Cell], attribute: Attribute) -> list[str]:
    """The names of the states: the values' own where all are plain words, else numbers."""
    shown = [show_cell(cell, attribute) for cell in cells]
    return shown if all(_PLAIN.fullmatch(text) for text in shown) else [f"s{number}" for number in range(len(cells))]


def _variable(attribute: Attribute, cells: Sequence[Cell], states: Sequence[str]) -> str:
    lines = [f"variable {attribute.name} {{", f"    type discrete [ {len(states)} ] {{ {', '.join(states)} }};"]
    for cell, state in zip(cells, states, strict=True):
        shown = show_cell(cell, attribute)
        if shown != state:
            alike = "uniform " if cell.inside is Inside.UNIFORM else ""
            text = f"{alike}{shown}".replace("%", "%25").replace('"', "%22")
            lines.append(f'    property "{state} = {text}" ;')
    return "\n".join((*lines, "}\n"))


def _probability(network: Network, factor: Factor, states: Sequence[Sequence[str]]) -> str:
    name = network.columns[factor.column].name
    parents = [network.columns[parent].name for parent in factor.parents]
    lines = [f"probability ( {name}{' | ' + ', '.join(parents) if parents else ''} ) {{"]
    for key, row in sorted(factor.rows.items()):
        if isinstance(row, Normal):
            raise ValueError(f"the distribution of `{name}` is normal, and BIF has tables only")
        where = ", ".join(states[parent][index] for parent, index in zip(factor.parents, key, strict=True))
        lines.append(f"    {f'( {where} )' if parents else 'table'} {', '.join(decimals(row))};")
    return "\n".join((*lines, "}\n"))
