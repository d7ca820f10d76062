"""What the cells of a recorded column stand for: outcomes, by their names or by the file's labels, or numbers.

An outcome's name comes first: where a text is both the name of one outcome and the file's label of another, the two
contradict each other, and that is what the comparison is to find out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.declaration import ModelDeclaration, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.model import ByThreshold, Model, Readout
from fairdsl.ir.outcome_reading import outcome_readings

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?", re.ASCII)
_TRUTH = {"true": "1", "false": "0"}
#: How far recorded and computed numbers may be apart, beside the rounding of what was recorded.
_APART = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """The outcomes [rows] that were recorded; ``reading`` says in words what the cells were taken for."""

    outcomes: NDArray[np.int64]
    reading: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Numbers:
    """The numbers [rows] that were recorded, to be compared within ``tolerance``."""

    numbers: NDArray[np.float64]
    tolerance: float


class NumberKind(Enum):
    """What the number is that a model gives beside its decisions."""

    SCORE = "score"
    PROBABILITY = "probability"


class UnreadableError(ValueError):
    """Cells that stand for no outcome and are not numbers either; ``cells`` are some of them."""

    def __init__(self, reason: str, cells: Sequence[str], help_text: str) -> None:
        super().__init__(reason)
        self.cells = tuple(cells)
        self.help_text = help_text


def read_cells(
    cells: Sequence[str], model: Model, declaration: ModelDeclaration, numbers: NumberKind | None
) -> Decisions | Numbers:
    """What the cells stand for; raises UnreadableError. ``numbers``: what the model gives beside its decisions."""
    distinct = list(dict.fromkeys(cells))
    names = {name: outcome for outcome, name in enumerate(model.outcomes)}
    if all(cell in names for cell in distinct):
        return _decisions(cells, names, "the names of the outcomes")
    codes, others = _codes(model, declaration)
    codes = None if codes is None else _without_blanks(codes)
    labels = {cell: _label(cell) for cell in distinct}
    if codes is None and {*labels.values()} <= {"0", "1"}:
        raise UnreadableError(
            "0 and 1 may be the outcomes in their order, or whether the score is high",
            distinct[:2],
            f"record the names of the outcomes: {' or '.join(f'`{name}`' for name in model.outcomes)}",
        )
    found = {cell: _outcome(label, codes or {}, others) for cell, label in labels.items()}
    outcomes = {cell: outcome for cell, outcome in found.items() if outcome is not None}
    if len(outcomes) == len(distinct):
        return _decisions(cells, outcomes, _codes_in_words(model, codes or {}, others))
    if numbers is not None and all(_NUMBER.fullmatch(cell) for cell in distinct) and not _classes(distinct, numbers):
        return Numbers(numbers=np.array([float(cell) for cell in cells]), tolerance=_tolerance(distinct))
    listing, more = ", ".join(f"`{name}`" for name in model.outcomes), ", ".join(codes or ())
    raise UnreadableError(
        "neither an outcome nor a label of the file",
        [cell for cell in distinct if cell not in names and cell not in outcomes],
        f"record the outcomes by name: {listing}" + (f"; or the file's labels: {more}" if more else ""),
    )


def _without_blanks(codes: Mapping[str, int]) -> dict[str, int]:
    """The labels as cells are read, without blanks around them; of labels that are then the same, none."""
    plain = [label.strip() for label in codes]
    return {label.strip(): outcome for label, outcome in codes.items() if plain.count(label.strip()) == 1}


def _classes(cells: Sequence[str], numbers: NumberKind) -> bool:
    """Whether the cells look like classes that nobody knows, and not like probabilities."""
    return numbers is NumberKind.PROBABILITY and all(_WHOLE.fullmatch(cell) for cell in cells)


def _outcome(label: str, codes: Mapping[str, int], others: int | None) -> int | None:
    return codes.get(label, others if _WHOLE.fullmatch(label) else None)


def _codes_in_words(model: Model, codes: Mapping[str, int], others: int | None) -> str:
    """``0 = denied, 1 = approved``."""
    shown = ", ".join(f"{label} = {model.outcomes[outcome]}" for label, outcome in codes.items())
    return shown if others is None else f"{shown}, any other = {model.outcomes[others]}"


def _decisions(cells: Sequence[str], outcomes: Mapping[str, int], reading: str) -> Decisions:
    return Decisions(outcomes=np.array([outcomes[cell] for cell in cells], dtype=np.int64), reading=reading)


def _label(cell: str) -> str:
    """A whole number without its decimal point, a truth value as a number, any other text as it is."""
    match = _WHOLE.fullmatch(cell)
    return str(int(match[1])) if match is not None else _TRUTH.get(cell.casefold(), cell)


def _tolerance(cells: Sequence[str]) -> float:
    """How far recorded decimals may be rounded: by half a unit in the last place that any of them has."""
    places = max((len(cell.partition(".")[2]) for cell in cells if "e" not in cell.casefold()), default=0)
    return _APART + (0.5 * 10.0**-places if places else 0.0)


def _codes(model: Model, declaration: ModelDeclaration) -> tuple[dict[str, int] | None, int | None]:
    """Which labels stand for which outcome, and the outcome of all others; None where they may stand for either."""
    clause, positions = declaration.decision, {str(place): place for place in range(len(model.outcomes))}
    if model.deployed is not None and model.deployed.readout not in (Readout.CHANNEL, Readout.SCORE):
        readings = list(enumerate(outcome_readings(model)))
        codes = {str(read.column if read.label is None else read.label): outcome for outcome, read in readings}
        rest = next((outcome for outcome, read in readings if read.otherwise), None)
        return {code: outcome for code, outcome in codes.items() if outcome != rest}, rest
    match clause:
        case WhenScore() | WhenProbability() if isinstance(model.rule, ByThreshold):
            return _of_threshold(model, high_place(clause), positions)
        case WhenClass():
            written = {str(each.label): declaration.outcomes[each.outcome] for each in clause.classes}
            named = {label: model.outcomes.index(outcome) for label, outcome in written.items()}
            left = [outcome for outcome in positions.values() if outcome not in named.values()]
            return named, left[0] if left else None
        case _:
            return positions, None


def _of_threshold(model: Model, high: int, positions: dict[str, int]) -> tuple[dict[str, int] | None, int | None]:
    """Labels beside a number, if the file has names for them: that of the number is the outcome of high ones."""
    classes = () if model.deployed is None else model.deployed.classes
    if classes and model.deployed is not None:
        own = classes[model.deployed.channel if len(classes) > 1 else 0]
        others = [label for label in classes if label != own]
        return {str(own): high, **{str(label): 1 - high for label in others}}, None if others else 1 - high
    return (positions, None) if high == 1 else (None, None)


def high_place(clause: WhenScore | WhenProbability) -> int:
    """The place of the outcome, of two, that a high number leads to."""
    return clause.outcome if clause.relation.upwards else 1 - clause.outcome
