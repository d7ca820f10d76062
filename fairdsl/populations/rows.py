"""Distributions from rows of data: themselves, frequencies, a network with a structure written or searched for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from fairdsl.data.errors import not_the_pinned_data
from fairdsl.data.samples import Samples
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.population import BINS_BY_MEANS, Cell, Network, Population, Rows, Sample
from fairdsl.populations import errors
from fairdsl.populations.climb import RESTARTS, Choices, climb
from fairdsl.populations.columns import Columns
from fairdsl.populations.counts import CodeArray, coded, fitted, with_means
from fairdsl.populations.cutting import show_cell, show_end
from fairdsl.populations.scores import SCORES, FamilyScore
from fairdsl.populations.searches import SEARCHES, NoStructureError
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.source import Span

_HILL_CLIMBING = "hill_climbing"
_APPROXIMATED = ", approximated: everybody in a bin is the mean of its rows"
_SAMPLE_SIZE = Fraction(10)

Settings = tuple[tuple[str, str], ...]


def from_rows(distribution: CheckedDistribution, columns: Columns, path: str, samples: Samples) -> Population | None:
    """The distribution that the rows at ``path`` give; None after reporting.

    Raises DiagnosticError for a file that is not a table of these columns (E0530 to E0534).
    """
    sample = _sample(distribution, path, samples)
    name, has_label = distribution.name, distribution.label is not None
    if distribution.kind == "empirical":
        attributes = columns.with_bins(sample.values)
        if attributes is None:
            return None
        _tell_absent(distribution, columns, sample)
        return Rows(name=name, columns=attributes, sample=sample, has_label=has_label, span=distribution.span)
    cells = columns.of_rows(sample.values)
    if cells is None:
        return None
    codes = coded(sample.values, cells)
    means = BINS_BY_MEANS in distribution.settings
    if means:
        shown = len(cells) - has_label
        cells = (*with_means(cells[:shown], codes, sample.values), *cells[shown:])
    structure = _structure(distribution, columns.reporter, codes)
    if structure is None:
        return None
    parents, how, settings = structure
    network = Network(
        name=name,
        columns=columns.attributes,
        cells=cells,
        factors=fitted(codes, cells, parents),
        has_label=has_label,
        causal=distribution.kind == "fitted",
        searched=distribution.kind == "learned",
        how=f"{how}, frequencies of {sample.rows:,} rows{_APPROXIMATED if means else ''}",
        settings=(*settings, *([BINS_BY_MEANS] if means else [])),
        sample=sample,
        span=distribution.span,
    )
    _tell_absent_cells(distribution, network, columns.reporter, codes)
    _tell_thin(network, columns.reporter, distribution.span)
    return network


def _sample(distribution: CheckedDistribution, path: str, samples: Samples) -> Sample:
    """The rows, with the label as the last column."""
    sample = samples.of(path, distribution.domain, distribution.columns[-1] if distribution.label is not None else None)
    source = distribution.source
    if source is not None and source.sha256 is not None and source.sha256.lower() != sample.sha256:
        span = source.digest_span or source.span
        raise DiagnosticError(not_the_pinned_data(path, source.sha256, sample.sha256, span))
    return sample


# ---- structures ----------------------------------------------------------------------------------


def _structure(
    distribution: CheckedDistribution, reporter: Reporter, codes: CodeArray
) -> tuple[Mapping[int, Sequence[int]], str, Settings] | None:
    """The parents of every column, where they come from, and by which choices."""
    count = codes.shape[1]
    match distribution.kind:
        case "independent":
            how = "every attribute independent of the others"
            names = [distribution.columns[place].name for place in distribution.given]
            if names:
                how += f" within each group of {', '.join(names)}"
            return _within(distribution.given, count), how, ()
        case "fitted":
            parents = {
                place: sorted({e.parent for e in distribution.edges if e.child == place}) for place in range(count)
            }
            return parents, f"the edges of the graph {distribution.graph}", ()
        case "learned":
            return _searched(distribution, reporter, codes)
        case _:
            raise AssertionError(distribution.kind)


def _within(given: Sequence[int], count: int) -> dict[int, tuple[int, ...]]:
    """Any joint distribution of ``given``, and given them every other column by itself."""
    before = {place: tuple(given[:number]) for number, place in enumerate(given)}
    return {place: before.get(place, tuple(given)) for place in range(count)}


def _searched(
    distribution: CheckedDistribution, reporter: Reporter, codes: CodeArray
) -> tuple[Mapping[int, Sequence[int]], str, Settings] | None:
    """The search of the spec, with its settings."""
    search = str(dict(distribution.settings).get("search", _HILL_CLIMBING))
    if search == _HILL_CLIMBING:
        return _climbed(distribution, codes)
    if search not in SEARCHES:
        known = (_HILL_CLIMBING, *SEARCHES)
        reporter.report(errors.unknown_search(search, known, distribution.span))
        return None
    try:
        return _by_pgmpy(distribution, search, codes)
    except NoStructureError as error:
        reporter.report(errors.no_structure(search, str(error), distribution.span, error.help))
        return None


def _by_pgmpy(
    distribution: CheckedDistribution, name: str, codes: CodeArray
) -> tuple[Mapping[int, Sequence[int]], str, Settings]:
    """A search of pgmpy; raises NoStructureError, also for a setting that it does not read."""
    search, written = SEARCHES[name], dict(distribution.settings)
    unread = [setting for setting in written if setting not in search.reads | {"search", BINS_BY_MEANS[0]}]
    if unread:
        reason = f"it does not read `set {unread[0]}`"
        raise NoStructureError(reason, f"remove the line, or write `set search = {_HILL_CLIMBING}`, which does")
    defaults: dict[str, Fraction | str] = {"score": next(iter(SCORES)), "equivalent_sample_size": _SAMPLE_SIZE}
    chosen = {setting: value for setting, value in (defaults | written).items() if setting in search.reads}
    structure = search.structure(codes, chosen)
    if chosen.get("score") != "bdeu":
        chosen.pop("equivalent_sample_size", None)
    shown = [(setting, str(value)) for setting, value in chosen.items()]
    how = "a structure found by a search of pgmpy"
    return dict(enumerate(map(sorted, structure))), how, (("search", name), *search.made_with, *shown)


def _climbed(distribution: CheckedDistribution, codes: CodeArray) -> tuple[Mapping[int, Sequence[int]], str, Settings]:
    """Hill climbing, with the settings of the spec."""
    written = dict(distribution.settings)
    score = str(written.get("score", next(iter(SCORES))))
    weight = Fraction(written.get("equivalent_sample_size", _SAMPLE_SIZE))
    most = written.get("max_parents")
    roots = bool(Fraction(written.get("protected_roots", 0)))
    choices = Choices(
        max_parents=None if most is None else int(Fraction(most)),
        protected=frozenset(distribution.protected) if roots else frozenset(),
        seed=int(Fraction(written.get("seed", 0))),
    )
    structure = climb(codes.shape[1], FamilyScore(codes, score, float(weight)), choices)
    settings: list[tuple[str, str]] = [
        ("search", _HILL_CLIMBING),
        ("restarts", str(RESTARTS)),
        ("seed", str(choices.seed)),
        ("score", score),
    ]
    if score == "bdeu":
        settings.append(("equivalent_sample_size", str(weight)))
    settings.append(("max_parents", "any number" if choices.max_parents is None else str(choices.max_parents)))
    settings.append(("protected_roots", "yes" if roots else "no"))
    return dict(enumerate(map(sorted, structure))), "a structure found by search", tuple(settings)


# ---- what the rows do not say ----------------------------------------------------------------------


def _tell_absent_cells(
    distribution: CheckedDistribution, network: Network, reporter: Reporter, codes: CodeArray
) -> None:
    """Values or bins of protected attributes that no row has."""
    for place in distribution.protected:
        present = set(np.unique(codes[:, place]).tolist())
        absent = [cell for index, cell in enumerate(network.cells[place]) if index not in present]
        _tell(distribution, place, absent, reporter)


def _tell_absent(distribution: CheckedDistribution, columns: Columns, sample: Sample) -> None:
    """The same for a population of rows; a real attribute without bins has no groups there."""
    for place in distribution.protected:
        attribute = columns.attributes[place]
        if attribute.values is None or attribute.bins or attribute.bins_by is not None:
            continue
        present = set(sample.values.floats[:, place].tolist())
        cells = [Cell(low=Fraction(value), high=Fraction(value)) for value in attribute.values if value not in present]
        _tell(distribution, place, cells, columns.reporter)


def _tell(distribution: CheckedDistribution, place: int, absent: Sequence[Cell], reporter: Reporter) -> None:
    if absent:
        attribute = distribution.columns[place]
        shown = [show_cell(cell, attribute, show_end) for cell in absent]
        reporter.report(errors.values_without_rows(attribute.name, shown, distribution.span, attribute.span))


def _tell_thin(network: Network, reporter: Reporter, span: Span) -> None:
    """Columns with more probabilities than rows, counting the cells and the combinations that occur."""
    assert network.sample is not None
    for factor in network.factors:
        distributions = [row for row in factor.rows.values() if isinstance(row, tuple)]
        occurring = sum(1 for cell in zip(*distributions, strict=True) if any(cell))
        free = len(distributions) * (occurring - 1)
        if free > network.sample.rows:
            name = network.columns[factor.column].name
            reporter.report(errors.more_parameters_than_rows(name, free, network.sample.rows, span))
