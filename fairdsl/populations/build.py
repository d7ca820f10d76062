"""From a distribution as declared to the probabilities that it stands for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from fairdsl.data.errors import named_at, not_the_pinned_data
from fairdsl.data.samples import Samples
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.domain import Integer, ModelThresholds
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Factor, Inside, Network, Population
from fairdsl.populations import errors
from fairdsl.populations.bif_read import network_of_bif
from fairdsl.populations.columns import Columns
from fairdsl.populations.document_read import network_of_document
from fairdsl.populations.explicit import explicit_factors, parents_of
from fairdsl.populations.order import circle_of
from fairdsl.semantics.checked import CheckedDistribution, ColumnDistribution
from fairdsl.source import SourceFile, Span
from fairdsl.source.reading import content_of

_READERS = {"bif": network_of_bif, "json": network_of_document}
#: How the names of other programs' networks end: XMLBIF, Hugin, UAI, GeNIe, Netica.
_OTHER_NETWORKS = frozenset({"xml", "xmlbif", "net", "uai", "xdsl", "dne"})


def read_network(distribution: CheckedDistribution, path: str) -> Network:
    """The network in the file at ``path``; raises DiagnosticError (E0534, E0572, E0574, E0575)."""
    declared = distribution.source
    assert declared is not None
    form = declared.format if declared.format is not None and path == declared.path else Path(path).suffix[1:].lower()
    if form not in _READERS:
        reason = f"`{form}` is neither `bif` nor `json`" if form else "its name does not say which format it has"
        help_text = 'write the format, as in `from bif "people.txt"`, or `empirical from "people.csv"` for rows'
        if form in _OTHER_NETWORKS:
            help_text = "have the program that wrote it save the network as BIF (pgmpy: `BIFWriter(model).write(path)`)"
        raise DiagnosticError(errors.network_not_read(path, reason, declared.span, help_text))
    try:
        content = content_of(path)
        text = content.decode("utf-8-sig")
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        help_text = "check the path; it counts from the folder where the command runs"
        raise DiagnosticError(errors.network_not_read(path, reason, declared.span, help_text)) from problem
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8 text"
        raise DiagnosticError(errors.network_not_read(path, reason, declared.span, "save it in UTF-8")) from problem
    digest = sha256(content).hexdigest()
    if declared.sha256 is not None and declared.sha256.lower() != digest:
        span = declared.digest_span or declared.span
        raise DiagnosticError(not_the_pinned_data(path, declared.sha256, digest, span))
    return _READERS[form](distribution, SourceFile(path, text, digest))


def build(
    distribution: CheckedDistribution,
    model: Model | None,
    reporter: Reporter,
    *,
    data: str | None = None,
    samples: Samples | None = None,
) -> Population | None:
    """The population of the distribution, or None after reporting why it has none.

    ``model`` is the one under audit, for ``bins by model``. ``data`` is the path of a file to read in place
    of the spec's (a pinned digest still has to match), ``samples`` are those of the run, which are read once.
    """
    columns = Columns(attributes=distribution.columns, model=model, reporter=reporter, span=distribution.span)
    path = data if data is not None else distribution.source.path if distribution.source is not None else ""
    try:
        match distribution.kind:
            case "uniform":
                return _uniform(distribution, columns)
            case "explicit":
                return _explicit(distribution, columns)
            case "file":
                return read_network(distribution, path)
            case _:
                return _counted(distribution, columns, path, samples)
    except DiagnosticError as problem:
        named = distribution.source.span if distribution.source is not None and data is None else None
        reporter.extend(problem.diagnostics if named is None else named_at(problem.diagnostics, named))
        return None


def depends_on_model(distribution: CheckedDistribution) -> bool:
    """Whether the population is another one for another model: an attribute has ``bins by model``."""
    return any(isinstance(attribute.bins_by, ModelThresholds) for attribute in distribution.columns)


def _counted(
    distribution: CheckedDistribution, columns: Columns, path: str, samples: Samples | None
) -> Population | None:
    """A population from rows."""
    from fairdsl.populations.rows import from_rows

    spans = {(edge.parent, edge.child): edge.span for edge in distribution.edges}
    parents: dict[int, list[int]] = defaultdict(list)
    for parent, child in spans:
        parents[child].append(parent)
    every = {place: parents[place] for place in range(len(columns.attributes))}
    return None if _in_a_circle(columns, every, spans) else from_rows(distribution, columns, path, samples or Samples())


def _uniform(distribution: CheckedDistribution, columns: Columns) -> Network | None:
    cells = columns.of_uniform()
    if cells is None:
        return None
    factors = tuple(
        Factor(column=place, parents=(), rows={(): _shares(of_column, isinstance(attribute.type, Integer))})
        for place, (attribute, of_column) in enumerate(zip(columns.attributes, cells, strict=True))
    )
    return Network(
        name=distribution.name,
        columns=columns.attributes,
        cells=cells,
        factors=factors,
        has_label=distribution.label is not None,
        how="every individual of the domain alike",
        span=distribution.span,
    )


def _shares(cells: Sequence[Cell], whole: bool) -> tuple[Fraction, ...]:
    """The part of all values that lies in each cell, by number or by length."""
    if all(cell.inside is Inside.POINT for cell in cells):
        return tuple(Fraction(1, len(cells)) for _ in cells)
    sizes = [Fraction(0) if cell.low is None or cell.high is None else cell.high - cell.low + whole for cell in cells]
    return tuple(size / sum(sizes) for size in sizes)


def _explicit(distribution: CheckedDistribution, columns: Columns) -> Network | None:
    by_column: dict[int, list[ColumnDistribution]] = defaultdict(list)
    for each in distribution.distributions:
        by_column[each.column].append(each)
    parents = parents_of(by_column)
    spans = {(parent, child): by_column[child][0].span for child in by_column for parent in parents[child]}
    if _in_a_circle(columns, parents, spans):
        return None
    made = explicit_factors(columns, by_column)
    if made is None:
        return None
    cells, factors = made
    return Network(
        name=distribution.name,
        columns=columns.attributes,
        cells=cells,
        factors=factors,
        has_label=distribution.label is not None,
        causal=True,
        how="written by hand, attribute by attribute",
        span=distribution.span,
    )


def _in_a_circle(columns: Columns, parents: Mapping[int, Sequence[int]], spans: Mapping[tuple[int, int], Span]) -> bool:
    """Whether there is one; reported at one of its edges."""
    circle = circle_of(parents)
    if circle is None:
        return False
    names = [columns.attributes[place].name for place in circle]
    columns.reporter.report(errors.circle(names, spans.get((circle[0], circle[1]), columns.span)))
    return True
