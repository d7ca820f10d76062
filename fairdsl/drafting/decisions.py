"""How a model's file decides: the clauses that are tried, of two outcomes or of the classes that the file lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.diagnostics import DiagnosticError
from fairdsl.drafting.good import good_of
from fairdsl.drafting.label import Label
from fairdsl.drafting.words import in_comment, names_for
from fairdsl.ir.declaration import Label as Class
from fairdsl.models.classes.known import writable, written
from fairdsl.models.onnx_import.signature import read_signature
from fairdsl.source.names import is_name

#: Classes of a file that are outcomes, and not a list of what it encodes.
_FEWEST, _MOST = 3, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Outcomes, the clauses that choose among them, and the favourable one."""

    outcomes: tuple[str, ...] = ("negative", "positive")
    clauses: tuple[str, ...]
    favourable: str = "positive"
    #: How the favourable one of several was chosen; empty of two, which are those of the label.
    why: str = ""
    #: The outcome for each cell of the label, where there are several.
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The clauses of the declaration."""
        return "".join(f"  {clause}\n" for clause in (*self.clauses, f"favourable {self.favourable}"))

    def wanted(self, label: Label, rows: Sequence[int]) -> list[str]:
        """What the label says of these rows, as an outcome; empty where it is none of them."""
        if not self.cells:
            return [self.outcomes[label.positive[row]] for row in rows]
        known = dict(self.cells)
        return [known.get(label.column.cells[row], "") for row in rows]


def decisions(model: str, label: Label | None) -> Iterator[Decision]:
    """What may decide in the file ``model``, the likeliest first: the classes of the label, two outcomes, others."""
    listed = _listed(model)
    several = [each for classes in _classes(listed, label) for each in _among(classes, label)]
    meant = [each for each in several if label is not None and {*label.known} <= {*dict(each.cells)}]
    yield from meant
    yield from (Decision(clauses=(f"positive when {condition}",)) for condition in _conditions(listed, label))
    yield from (each for each in several if each not in meant)


def _conditions(listed: Sequence[tuple[Class, ...]] | None, label: Label | None) -> Iterator[str]:
    """The conditions of the positive one of two outcomes; last, of two classes that are none of the label's values."""
    if label is not None and label.two_valued:
        row = label.positive.index(True)
        good = label.column.cells[row]
        if label.column.numbers is None:
            yield from dict.fromkeys((f'class = "{good}"', f'class = "{label.column.written[row]}"'))
        elif label.column.numbers[label.column.cells.index(good)].denominator == 1:
            yield f"class = {Fraction(good)}"
    if label is not None and label.reversed:  # what the model is sure of is the bad outcome
        yield from ("class = 0", 'class = "0"', "probability < 50%", "score <= 0")
    else:
        yield from ("class = 1", 'class = "1"', "probability >= 50%", "score > 0")
    for classes in listed or ():
        if len(classes) == 2 and all(map(writable, classes)):
            good = good_of("", [str(each) for each in classes]).value
            yield from (f"class = {written(each)}" for each in sorted(classes, key=lambda each: str(each) != good))


def _listed(model: str) -> list[tuple[Class, ...]] | None:
    """The lists of classes in an ONNX file; None of any other file."""
    if not model.lower().endswith(".onnx"):
        return None
    try:
        signature = read_signature(model, None)
    except DiagnosticError:
        return []  # opening it as a model says what is wrong
    return [*signature.columns.values(), *signature.labels]


def _classes(listed: Sequence[tuple[Class, ...]] | None, label: Label | None) -> list[tuple[Class, ...]]:
    """Lists of three classes or more: those that the file has, or else as many as the label has values."""
    found = [*(listed or ())]
    if listed is None and label is not None:
        values = label.column.values
        found = [tuple(values), tuple(range(len(values)))]
    usable = [each for each in found if _FEWEST <= len(each) <= _MOST and all(map(writable, each))]
    return list(dict.fromkeys(usable))


def _among(classes: tuple[Class, ...], label: Label | None) -> Iterator[Decision]:
    """The outcomes of these classes: bound by their names, and else each with a clause."""
    texts = [str(each) for each in classes]
    values = [] if label is None else label.column.values
    # Encoders number texts in alphabetical order.
    encoded = list(classes) == list(range(len(values))) and not {*texts} & {*values}
    named = values if encoded else texts
    found = good_of("" if label is None else label.column.header, named)
    place = named.index(found.value)
    ways = [(tuple(texts), False)] if all(map(is_name, texts)) and len({*texts}) == len(texts) else []
    ways.append((tuple(names_for([f"class {each}" for each in named])), True))
    for outcomes, ruled in ways:
        clauses = [f"{outcome} when class = {written(each)}" for outcome, each in zip(outcomes, classes, strict=True)]
        yield Decision(
            outcomes=outcomes,
            clauses=tuple(clauses) if ruled else (),
            favourable=outcomes[place],
            why=f"{in_comment(found.value)} counts as favourable ({found.ground.value}): write the one that does",
            cells=tuple(zip(named, outcomes, strict=True)),
        )
