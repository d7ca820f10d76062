"""How a model's file reads the columns of a table: ways to bind them are tried, and held against the label.

Whoever trained a model fed it some matrix, and the file says no more than how wide it is. The usual ways are tried:
columns in their order, categories as codes or one-hot, numbers before or behind them, scaled or not. Where there is a
label, the way by which the model agrees with it on the most rows is taken; without one the first that fits, as a guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import look
from fairdsl.data.columns import read_column
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.drafting.columns import Column
from fairdsl.drafting.decisions import Decision, decisions
from fairdsl.drafting.inputs import check_named, inputs_of, of_its_label, width_of
from fairdsl.drafting.label import Label
from fairdsl.elaborate import load_models
from fairdsl.ir.binding import BoundBy
from fairdsl.ir.domain import Category, Domain
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from fairdsl.recorded_decisions import better_binding, many_decided
from fairdsl.replay.decisions import decide
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.load import load
from fairdsl.source import SourceFile
from fairdsl.verdict import Decider

#: How a number is fed, as a text of the language, and the words for it.
Scale = tuple[Callable[[Column], str], str]

#: Warnings about a score that is read as a probability, or the reverse.
_MISREAD = frozenset({"W0702", "W0704"})
#: What is said of a clause that asks for another output than the file has: of a way nothing.
_NO_SUCH_OUTPUT = "E0511"
#: A file of which nothing is read, in whatever way it is fed.
_NOT_READ = "E0520"
#: Rows on which ways are compared, from all over the table.
_ROWS = 4_000
#: A way by which the model agrees with the label no more often than this above the commoner one is not confirmed.
_CLEARLY = 0.02
#: So many standard deviations an exchange of two columns has to win: of a hundred some win by chance.
_BY_CHANCE = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to feed the columns."""

    #: What ``reads`` lists; None: the clause is left out.
    reads: tuple[str, ...] | None
    #: How many numbers that gives.
    width: int
    #: In words.
    how: str
    #: The columns that are not fed.
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The way that was taken, the clause that decides, and what they agree with."""

    way: Way
    decision: Decision
    #: Whether the file names what it takes, so that nothing about its inputs is open.
    by_name: bool
    #: The share of the rows on which the model decides as the label says; None without a label.
    agreement: float | None
    #: How sure that is, in a line for a comment.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What ways are tried on."""

    #: The model's path as the spec writes it.
    written: str
    #: The declarations before the model.
    domain: str
    #: Where the spec will lie.
    path: str
    #: The attributes, in the order of the domain.
    columns: Sequence[Column]
    #: Those that are protected.
    protected: Sequence[Column]
    label: Label | None
    #: The columns that are no attributes.
    left_out: Sequence[Column] = ()

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that are looked at, of which it is known what became of them."""
        rows = np.arange(len(self.columns[0].cells))
        if self.label is not None and self.label.unknown:
            rows = np.flatnonzero(np.isin(self.label.column.cells, self.label.known))
        return rows[np.unique(np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64))]

    def commoner(self, decision: Decision) -> float:
        """What always the commoner label agrees with."""
        wanted = [] if self.label is None else decision.wanted(self.label, self.rows.tolist())
        return max(Counter(wanted).values(), default=0) / max(len(wanted), 1)

    def confirmed(self, fit: Fit) -> bool:
        """Whether the model agrees with the label clearly more often than the commoner value does."""
        return (fit.agreement or 0.0) >= self.commoner(fit.decision) + _CLEARLY


def fitted(model: str, bench: Bench) -> Fit:
    """How the file ``model`` reads the columns.

    Ways with fewer columns are tried where no way with all of them agrees with the label clearly more often than the
    commoner value. Of ways that agree equally often the plainest is taken. Raises DiagnosticError with what is wrong
    with the first way where none works.
    """
    inputs, labelled = inputs_of(model), bench.label is not None
    label = None if bench.label is None else bench.label.column
    check_named(model, inputs, bench.columns, label, bench.left_out)
    width, tried = width_of(inputs), tuple(decisions(model, bench.label))
    found: list[Fit] = []
    first: DiagnosticError | None = None
    plain, scaled = _SCALES[:1], _SCALES[1:] if labelled else ()
    for ways in (
        (*_ways(bench.columns, plain), *_ways(bench.columns, scaled)),
        (*_of_fewer(bench, plain), *_of_fewer(bench, scaled)),
    ):
        different: dict[tuple[str, ...], Way] = {}
        for way in ways:
            if width in (None, way.width):
                different.setdefault(way.reads or _names(bench.columns), way)
        fitting = [*different.values()][: 1 if len(inputs) > 1 else None]
        if not labelled:  # which column the model does not read, nothing says; the label mostly stands last
            last = [way for way in fitting if way.without == (bench.columns[-1].name,)]
            fitting = (last if any(way.without for way in fitting) else fitting)[:1]
        for way in fitting:
            look()
            try:
                found.append(_tried(way, bench, found, tried))
            except DiagnosticError as problem:
                if problem.diagnostics[0].code == _NOT_READ:
                    raise
                first = first or problem
            if found and found[-1].by_name:
                return replace(found[-1], why=_why(found[-1], (), bench))
        if len(inputs) > 1 or (found and (not labelled or any(bench.confirmed(fit) for fit in found))):
            break  # a file with an input a column takes them by name or not at all
    if not found:
        raise first or _wrong_width(bench, width, tried)
    best, *others = sorted(found, key=lambda fit: -(fit.agreement or 0.0))
    return replace(best, way=_written_out(best.way, bench, width), why=_why_or_not(best, others, bench))


def _why_or_not(best: Fit, others: Sequence[Fit], bench: Bench) -> str:
    """How the inputs were found, and what else would agree better: of what was taken, or of a way with all columns."""
    why = _why(best, others, bench)
    whole = [fit for fit in others if not fit.way.without][:1] if best.way.without else []
    for fit in (best, *whole):
        better = _better(fit, bench)
        if better is not None:
            of = "" if fit is best else f", of {fit.way.how},"
            why = f"{why.removesuffix(': NOT CONFIRMED')}, but{of} {better}: NOT CONFIRMED"
    return why


def _better(fit: Fit, bench: Bench) -> str | None:
    """With which columns or codes exchanged the model would agree with the label clearly more often, in words.

    No order but the usual ones is tried as a way, and one that nearly fits is no sign that it is the right one.
    """
    if bench.label is None:
        return None
    model, domain, rows, _ = _opened(f"{bench.domain}\n{model_text(bench.written, fit.way, fit.decision)}", bench)
    place = {outcome: number for number, outcome in enumerate(model.outcomes)}
    wanted = np.array([place.get(outcome, -1) for outcome in fit.decision.wanted(bench.label, bench.rows.tolist())])

    def agrees(points: NDArray[np.float64], some: NDArray[np.intp]) -> NDArray[np.bool_]:
        return np.asarray(many_decided(model, points) == wanted[some])

    points = rows.floats
    wrong = ~agrees(points, np.arange(len(points)))
    return better_binding(model, domain, points, agrees, wrong, least=0.0, deviations=_BY_CHANCE)


def _written_out(way: Way, bench: Bench, width: int | None) -> Way:
    """The way with all that it feeds by name, where the file takes one matrix whose columns have none."""
    if way.reads is not None or width is None:
        return way
    return replace(way, reads=_names(bench.columns))


def _wrong_width(bench: Bench, width: int | None, tried: Sequence[Decision]) -> DiagnosticError:
    """What is wrong with the plainest way, where no way gives as many numbers as the file takes."""
    try:
        _tried(next(_ways(bench.columns, _SCALES[:1])), bench, [], tried)
    except DiagnosticError as problem:
        label = None if bench.label is None else bench.label.column
        if label is not None and any(way.width == width for way in _ways([*bench.columns, label], _SCALES[:1])):
            return of_its_label(problem, label)
        return problem
    raise AssertionError("a way that was not to fit does")


def _why(best: Fit, others: Sequence[Fit], bench: Bench) -> str:
    """How the inputs were found, and how sure that is."""
    how, rows = f"inputs: {'by name' if best.by_name else best.way.how}", len(bench.rows)
    if best.agreement is None:
        return how if best.by_name else f"{how}: a GUESS, as no label was named to hold it against"
    agrees = f"the model agrees with the label on {best.agreement:.1%} of {rows:,} rows"
    if not bench.confirmed(best):
        doubt = "is the label the one that it was trained on?" if best.by_name else "NOT CONFIRMED"
        commoner = bench.commoner(best.decision)
        return f"{how}; {agrees}, no better than the commoner value alone ({commoner:.1%}): {doubt}"
    if not others or others[0].agreement is None:
        return f"{how}; {agrees}"
    if best.way.without and not all(fit.way.without for fit in others):
        return f"{how}; {agrees}, but the file takes as many numbers as all columns give: NOT CONFIRMED"
    noise = 2 * (2 * best.agreement * (1 - best.agreement) / rows) ** 0.5
    if others[0].agreement > best.agreement - noise:
        return f"{how}; {agrees}, and on {others[0].agreement:.1%} with {others[0].way.how}: NOT CONFIRMED"
    return f"{how}; {agrees}, otherwise on {others[0].agreement:.1%} at most"


def _ways(columns: Sequence[Column], scales: Sequence[Scale]) -> Iterator[Way]:
    """The usual ways to feed these columns, the plainest first."""
    categories = [column for column in columns if isinstance(column.type, Category)]
    others = [column for column in columns if column not in categories]
    orders = {
        "in their order": list(columns),
        "numbers first": [*others, *categories],
        "categories first": [*categories, *others],
    }
    for (order, arranged), (scale, how) in product(orders.items(), scales):
        said = f"the columns {order}, a category as its code{how}"
        if scale is _as_it_is:
            reads = None if order == "in their order" else _names(arranged)
            yield Way(reads=reads, width=len(columns), how=said)
            continue
        numbers = tuple(column.name if column in categories else scale(column) for column in arranged)
        yield Way(reads=numbers, width=len(columns), how=said)
        yield Way(reads=tuple(map(scale, arranged)), width=len(columns), how=f"{said}, codes as well")
    if not categories:
        return
    pairs = any(len(column.values) == 2 for column in categories)
    for (order, arranged), drop, (scale, how) in product(orders.items(), (False, True)[: 1 + pairs], scales):
        reads = tuple(_one_hot(column, drop=drop) if column in categories else scale(column) for column in arranged)
        width = sum(_numbers(column, drop=drop) for column in arranged)
        dropped = ", of two values as one number" if drop else ""
        yield Way(reads=reads, width=width, how=f"the columns {order}, categories one-hot{dropped}{how}")


def _of_fewer(bench: Bench, scales: Sequence[Scale]) -> Iterator[Way]:
    """Ways without the protected columns, or without any single one: not everything in a table is always fed."""
    for without in dict.fromkeys([tuple(bench.protected), *((column,) for column in bench.columns)]):
        left = [column for column in bench.columns if column not in without]
        names = tuple(column.name for column in without)
        for way in _ways(left, scales) if left and without else ():
            reads = way.reads or _names(left)
            yield Way(reads=reads, width=way.width, how=f"{way.how}, without {', '.join(names)}", without=names)


def _one_hot(column: Column, *, drop: bool) -> str:
    return column.name if drop and len(column.values) == 2 else f"one_hot({column.name})"


def _numbers(column: Column, *, drop: bool) -> int:
    """How many numbers a column gives where categories are one-hot."""
    if not isinstance(column.type, Category) or (drop and len(column.values) == 2):
        return 1
    return len(column.values)


def _names(columns: Sequence[Column]) -> tuple[str, ...]:
    """The columns as they are, in this order."""
    return tuple(column.name for column in columns)


def _as_it_is(column: Column) -> str:
    return column.name


def _standardised(column: Column) -> str:
    """As scikit-learn's StandardScaler: mean 0 and variance 1 over the rows; what may be missing is not scaled."""
    if column.gaps:
        return column.name
    numbers = _floats(column)
    return _scaled(column, float(numbers.mean()), float(numbers.std()))


def _to_unit(column: Column) -> str:
    """As scikit-learn's MinMaxScaler: the least is 0 and the greatest 1; what may be missing is not scaled."""
    if column.gaps:
        return column.name
    numbers = _floats(column)
    return _scaled(column, float(numbers.min()), float(numbers.max() - numbers.min()))


_SCALES: tuple[Scale, ...] = (
    (_as_it_is, ""),
    (_standardised, ", numbers scaled to mean 0 and variance 1"),
    (_to_unit, ", numbers scaled to 0 .. 1"),
)


def _floats(column: Column) -> NDArray[np.float64]:
    if column.numbers is not None:
        return np.array([float(number) for number in column.numbers])
    place = {value: code for code, value in enumerate(column.values)}
    return np.array([place[cell] for cell in column.cells], dtype=np.float64)


def _scaled(column: Column, shift: float, scale: float) -> str:
    """A linear expression; the shortest decimals of the floats, as they would be written."""
    below, by = (format(number, ".12g") for number in (shift, scale))
    if "e" in below + by or scale == 0.0:
        return column.name
    return f"({column.name} {'+' if shift < 0 else '-'} {below.lstrip('-')}) / {by}"


def _tried(way: Way, bench: Bench, before: Sequence[Fit], decisions: Sequence[Decision]) -> Fit:
    """The way with the first clause that decides by it, if possible without a warning: those of ``before`` come first.

    Raises DiagnosticError with what is wrong with the first clause where none does.
    """
    first: DiagnosticError | None = None
    doubtful: Fit | None = None
    for decision in dict.fromkeys([*(fit.decision for fit in before), *decisions]):
        try:
            decided, by_name, doubt = _decided(f"{bench.domain}\n{model_text(bench.written, way, decision)}", bench)
        except DiagnosticError as problem:
            if first is None or first.diagnostics[0].code == _NO_SUCH_OUTPUT:
                first = problem
            continue
        wanted = None if bench.label is None else decision.wanted(bench.label, bench.rows.tolist())
        agreement = None if wanted is None else float(np.mean(decided == np.array(wanted)))
        fit = Fit(way=way, decision=decision, by_name=by_name, agreement=agreement)
        if not doubt:
            return fit
        doubtful = doubtful or fit
    if doubtful is not None:
        return doubtful
    assert first is not None
    raise first


def model_text(written: str, way: Way, decision: Decision) -> str:
    """The declaration of the model."""
    reads = "" if way.reads is None else f"  reads {', '.join(way.reads)}\n"
    return f'model decide : Person -> {{ {", ".join(decision.outcomes)} }}\n  from "{written}"\n{reads}{decision.text}'


def _opened(text: str, bench: Bench) -> tuple[Model, Domain, ExactRows, Sequence[Diagnostic]]:
    """The model of the spec with its domain, the rows, and what was found; raises DiagnosticError."""
    reporter = Reporter()
    loaded = load(SourceFile(bench.path, text), reporter)
    checked = check_spec(loaded, reporter) if loaded is not None else None
    if checked is None or reporter.has_errors:
        raise DiagnosticError(*reporter)
    models, found = load_models(checked, {})
    rows, domain = bench.rows.tolist(), checked.models["decide"].domain
    read = (
        read_column([column.cells[row] for row in rows], attribute).numbers
        for column, attribute in zip(bench.columns, domain.attributes, strict=True)
    )
    return models["decide"], domain, ExactRows.of_columns(list(read), len(rows)), found


def _decided(text: str, bench: Bench) -> tuple[NDArray[np.str_], bool, bool]:
    """What the model of the spec decides about the rows, whether it takes them by name, and whether that is in doubt.

    It is where the rule reads a score as another.
    """
    model, _, rows, found = _opened(text, bench)
    decided = decide(model, rows)
    by = next(each for each in (Decider.DEPLOYED, Decider.ANSWERS, Decider.EXACT) if each in decided)
    by_name = model.binding is not None and model.binding.by is BoundBy.NAME
    # An open decision is the last of the names.
    names = np.array([*model.outcomes, "open"])
    return names[decided[by]], by_name, any(each.code in _MISREAD for each in found)
