"""How a model's file reads the columns of a table: ways to bind them are tried, and held against the label.

Whoever trained a model fed it some matrix, and the file says no more than how wide it is. The usual ways are tried:
columns in their order, categories as codes or one-hot, numbers before or behind them, scaled or not. Where there is a
label, the way by which the model agrees with it on the most rows is taken; without one the first that fits, as a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import look
from fairdsl.data.columns import read_column
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.drafting.columns import Column
from fairdsl.drafting.label import Label
from fairdsl.elaborate import load_models
from fairdsl.ir.domain import Category
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.replay.decisions import decide
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.load import load
from fairdsl.source import SourceFile
from fairdsl.source.reading import content_of
from fairdsl.verdict import Decider

__all__ = ["Bench", "Fit", "Way", "fitted", "model_text"]

#: How a number is fed, as a text of the language, and the words for it.
Scale = tuple[Callable[[Column], str], str]

#: Warnings about a score that is read as a probability, or the reverse.
_MISREAD = frozenset({"W0702", "W0704"})
#: Rows on which ways are compared, from all over the table.
_ROWS = 4_000
#: A way by which the model agrees with the label no more often than this above the commoner one is not confirmed.
_CLEARLY = 0.02


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
    decides: str
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

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that are looked at."""
        return np.unique(np.linspace(0, len(self.columns[0].cells) - 1, _ROWS).astype(np.int64))

    @property
    def commoner(self) -> float:
        """What always the commoner label agrees with."""
        share = 0.0 if self.label is None else float(np.mean(np.array(self.label.positive)[self.rows]))
        return max(share, 1 - share)


def fitted(model: str, bench: Bench) -> Fit:
    """How the file ``model`` reads the columns.

    Plain ways are tried before scaled ones, and ways with all columns before those with fewer, until one agrees with
    the label clearly more often than the commoner value. Raises DiagnosticError with what is wrong with the first way
    where none works.
    """
    width, labelled = _width(model), bench.label is not None
    found: list[Fit] = []
    first: DiagnosticError | None = None
    for ways in (
        _ways(bench.columns, _SCALES[:1]),
        _ways(bench.columns, _SCALES[1:] if labelled else ()),
        _of_fewer(bench, _SCALES[:1]),
        _of_fewer(bench, _SCALES[1:] if labelled else ()),
    ):
        fitting = [way for way in ways if width in (None, way.width)]
        if not labelled:  # which column the model does not read, nothing says; the label mostly stands last
            last = [way for way in fitting if way.without == (bench.columns[-1].name,)]
            fitting = (last if any(way.without for way in fitting) else fitting)[:1]
        for way in fitting:
            look()
            try:
                found.append(_tried(way, bench, found))
            except DiagnosticError as problem:
                first = first or problem
        if found and (not labelled or max(fit.agreement or 0.0 for fit in found) > bench.commoner + _CLEARLY):
            break
    if not found:
        raise first or _wrong_width(bench)
    best, *others = sorted(found, key=lambda fit: -(fit.agreement or 0.0))
    return replace(best, way=_written_out(best.way, bench, width), why=_why(best, others, bench))


def _written_out(way: Way, bench: Bench, width: int | None) -> Way:
    """The way with all that it feeds by name, where the file takes one matrix whose columns have none."""
    if way.reads is not None or width is None:
        return way
    return replace(way, reads=tuple(column.name for column in bench.columns))


def _wrong_width(bench: Bench) -> DiagnosticError:
    """What is wrong with the plainest way, where no way gives as many numbers as the file takes."""
    try:
        _tried(next(_ways(bench.columns, _SCALES[:1])), bench, [])
    except DiagnosticError as problem:
        return problem
    raise AssertionError("a way that was not to fit does")


def _why(best: Fit, others: Sequence[Fit], bench: Bench) -> str:
    """How the inputs were found, and how sure that is."""
    named = best.way.reads is None and bench.written.lower().endswith(".json")
    how, rows = f"inputs: {'as the document names them' if named else best.way.how}", len(bench.rows)
    if best.agreement is None:
        return f"{how}: a GUESS, as no label was named to hold it against"
    agrees = f"the model agrees with the label on {best.agreement:.1%} of {rows:,} rows"
    if best.agreement < bench.commoner + _CLEARLY:
        return f"{how}; {agrees}, no better than the commoner value alone ({bench.commoner:.1%}): NOT CONFIRMED"
    if not others or others[0].agreement is None:
        return f"{how}; {agrees}"
    noise = 2 * (2 * best.agreement * (1 - best.agreement) / rows) ** 0.5
    if others[0].agreement > best.agreement - noise:
        return f"{how}; {agrees}, and on {others[0].agreement:.1%} with {others[0].way.how}: NOT CONFIRMED"
    return f"{how}; {agrees}, otherwise on {others[0].agreement:.1%} at most"


def _width(model: str) -> int | None:
    """How many numbers the file takes; None where it does not say, or has an input a column."""
    if not model.lower().endswith(".onnx"):
        return None
    from fairdsl.models.session import session_beside

    try:
        inputs = session_beside(content_of(model), 1).get_inputs()
    except (OSError, RuntimeError):
        return None  # opening it as a model says what is wrong
    if len(inputs) != 1 or len(inputs[0].shape) != 2 or not isinstance(inputs[0].shape[1], int):
        return None
    return int(inputs[0].shape[1])


def _ways(columns: Sequence[Column], scales: Sequence[Scale]) -> Iterator[Way]:
    """The usual ways to feed these columns, the plainest first."""
    for scale, how in scales:
        reads = tuple(map(scale, columns))
        named = None if scale is _as_it_is else reads
        yield Way(reads=named, width=len(reads), how=f"the columns in their order, a category as its code{how}")
    categories = [column for column in columns if isinstance(column.type, Category)]
    if not categories:
        return
    others = [column for column in columns if column not in categories]
    orders = {
        "in their order": list(columns),
        "numbers first": [*others, *categories],
        "categories first": [*categories, *others],
    }
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
            reads = way.reads or tuple(column.name for column in left)
            yield Way(reads=reads, width=way.width, how=f"{way.how}, without {', '.join(names)}", without=names)


def _one_hot(column: Column, *, drop: bool) -> str:
    return column.name if drop and len(column.values) == 2 else f"one_hot({column.name})"


def _numbers(column: Column, *, drop: bool) -> int:
    """How many numbers a column gives where categories are one-hot."""
    if not isinstance(column.type, Category) or (drop and len(column.values) == 2):
        return 1
    return len(column.values)


def _as_it_is(column: Column) -> str:
    return column.name


def _standardised(column: Column) -> str:
    """As scikit-learn's StandardScaler: mean 0 and variance 1 over the rows."""
    numbers = _floats(column)
    return _scaled(column, float(numbers.mean()), float(numbers.std()))


def _to_unit(column: Column) -> str:
    """As scikit-learn's MinMaxScaler: the least is 0 and the greatest 1."""
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


def _tried(way: Way, bench: Bench, before: Sequence[Fit]) -> Fit:
    """The way with the first clause that decides by it, if possible without a warning: those of ``before`` come first.

    Raises DiagnosticError with what is wrong with the first clause where none does.
    """
    first: DiagnosticError | None = None
    doubtful: Fit | None = None
    for decides in dict.fromkeys([*(fit.decides for fit in before), *_decisions(bench.label)]):
        try:
            outcomes, doubt = _outcomes(f"{bench.domain}\n{model_text(bench.written, way, decides)}", bench)
        except DiagnosticError as problem:
            first = first or problem
            continue
        label = bench.label
        agreement = None if label is None else float(np.mean(outcomes == np.array(label.positive)[bench.rows]))
        fit = Fit(way=way, decides=decides, agreement=agreement)
        if not doubt:
            return fit
        doubtful = doubtful or fit
    if doubtful is not None:
        return doubtful
    assert first is not None
    raise first


def _decisions(label: Label | None) -> Iterator[str]:
    """The clauses that may decide, after `positive when`."""
    if label is not None and label.two_valued:
        good = next(cell for cell, positive in zip(label.column.cells, label.positive, strict=True) if positive)
        if label.column.numbers is None:
            yield f'class = "{good}"'
        elif label.column.numbers[label.column.cells.index(good)].denominator == 1:
            yield f"class = {Fraction(good)}"
    if label is not None and label.reversed:  # what the model is sure of is the bad outcome
        yield from ("class = 0", 'class = "0"', "probability < 50%", "score <= 0")
    else:
        yield from ("class = 1", 'class = "1"', "probability >= 50%", "score > 0")


def model_text(written: str, way: Way, decides: str) -> str:
    """The declaration of the model."""
    reads = "" if way.reads is None else f"  reads {', '.join(way.reads)}\n"
    return (
        f'model decide : Person -> {{ negative, positive }}\n  from "{written}"\n{reads}'
        f"  positive when {decides}\n  favourable positive\n"
    )


def _outcomes(text: str, bench: Bench) -> tuple[NDArray[np.bool_], bool]:
    """For which of the rows the model of the spec decides `positive`, and whether the rule reads a score as another."""
    reporter = Reporter()
    loaded = load(SourceFile(bench.path, text), reporter)
    checked = check_spec(loaded, reporter) if loaded is not None else None
    if checked is None or reporter.has_errors:
        raise DiagnosticError(*reporter)
    models, found = load_models(checked, {})
    rows, attributes = bench.rows.tolist(), checked.models["decide"].domain.attributes
    read = (
        read_column([column.cells[row] for row in rows], attribute).numbers
        for column, attribute in zip(bench.columns, attributes, strict=True)
    )
    decided = decide(models["decide"], ExactRows.of_columns(list(read), len(rows)))
    by = next(each for each in (Decider.DEPLOYED, Decider.ANSWERS, Decider.EXACT) if each in decided)
    return np.asarray(decided[by] == 1, dtype=np.bool_), any(each.code in _MISREAD for each in found)
