"""Populations from the text of a spec, as the pipeline makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import chdir
from fractions import Fraction
from itertools import product
from pathlib import Path

from fairdsl.diagnostics import Diagnostic, Reporter
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Normal, Population
from fairdsl.populations import build
from fairdsl.semantics import front_end
from fairdsl.semantics.checked import CheckedDistribution


def distribution(text: str, folder: Path) -> CheckedDistribution:
    """The last distribution of a spec, which is written to ``folder``."""
    (folder / "spec.fair").write_text(text, encoding="utf-8")
    with chdir(folder):
        spec, _ = front_end("spec.fair")
    return list(spec.distributions.values())[-1]


def built(
    text: str, folder: Path, model: Model | None = None, data: str | None = None
) -> tuple[Population | None, list[Diagnostic]]:
    """The population of the last distribution, and what was reported."""
    declared = distribution(text, folder)
    reporter = Reporter()
    with chdir(folder):
        population = build(declared, model, reporter, data=data)
    return population, list(reporter)


def network(text: str, folder: Path, model: Model | None = None) -> Network:
    """The network of a spec without mistakes."""
    population, findings = built(text, folder, model)
    assert isinstance(population, Network), [finding.title for finding in findings]
    return population


def finding(text: str, folder: Path, model: Model | None = None) -> tuple[str, str]:
    """The code and the marked text of the only finding of a population that cannot be built."""
    population, findings = built(text, folder, model)
    assert population is None
    (only,) = findings
    return only.code, only.primary.span.text if only.primary else ""


def joint(law: Network) -> dict[tuple[int, ...], Fraction]:
    """The probability of every combination of cells, by the product of the factors; not of normal laws."""
    return {cells: p for cells in product(*map(_positions, law.cells)) if (p := _probability(law, cells))}


def _positions(cells: Sequence[object]) -> Iterator[int]:
    return iter(range(len(cells)))


def _probability(law: Network, cells: tuple[int, ...]) -> Fraction:
    probability = Fraction(1)
    for factor in law.factors:
        row = factor.rows.get(tuple(cells[parent] for parent in factor.parents))
        if row is None:
            return Fraction(0)
        assert not isinstance(row, Normal)
        probability *= row[cells[factor.column]]
    return probability
