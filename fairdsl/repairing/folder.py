"""The folder of a repair: the model's file, the rows that were added, and the report in text, JSON and a picture.

The folder is written under another name beside its place and put there in one step, so that there is all of it or
nothing. One that has files in it is never written into: they may be a model that people are decided by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fairdsl.backends.errors import cannot_write
from fairdsl.data.written import column_texts
from fairdsl.diagnostics import DiagnosticError
from fairdsl.repairing.plot import picture
from fairdsl.repairing.result import Repaired
from fairdsl.repairing.subject import Subject
from fairdsl.repairing.training import Training
from fairdsl.source.spreadsheets import csv_of
from fairdsl.source.writing import new_folder, write_file

ADDED, PICTURE, REPORT, DOCUMENT = "added.csv", "rates.svg", "report.txt", "report.json"
_ANOTHER = "name a folder that does not exist yet, with `-o DIR`"


def check_folder(output: str) -> None:
    """Raises DiagnosticError (E0605) where there is no place for the folder."""
    place = Path(output)
    if place.is_dir() and not any(place.iterdir()):
        return
    if place.exists():
        raise DiagnosticError(cannot_write(output, "it exists and is not an empty folder", _ANOTHER))
    if not place.absolute().parent.is_dir():
        raise DiagnosticError(cannot_write(output, f"there is no folder `{place.parent}`", _ANOTHER))


def write_folder(place: Path, files: Mapping[str, str | bytes]) -> None:
    """Write all files of a repair, by their names."""
    try:
        with new_folder(place) as folder:
            for name, content in files.items():
                write_file(folder / name, content)
    except OSError as problem:
        raise DiagnosticError(cannot_write(str(place), problem, _ANOTHER)) from problem


def files_of(repaired: Repaired, subject: Subject, training: Training) -> Mapping[str, str]:
    """What is written beside the model, which learnt from ``training``."""
    return {
        ADDED: _added(subject, training),
        PICTURE: picture(repaired),
        REPORT: f"{repaired}\n",
        DOCUMENT: repaired.to_json(),
    }


def _added(subject: Subject, training: Training) -> str:
    """The added rows as a table of the spec's names, with the label that they were given, and where they are from."""
    columns = (*subject.domain.attributes, subject.label)
    rows: list[Sequence[object]] = [[*(column.name for column in columns), "recipe", "round"]]
    value_of = {outcome: value for value, outcome in subject.outcome_of.items()}
    for addition in training.additions:
        texts = [
            column_texts(addition.rows.values.column(index), attribute)
            for index, attribute in enumerate(subject.domain.attributes)
        ]
        labels = np.array([value_of[outcome] for outcome in addition.rows.outcomes.tolist()], dtype=np.float64)
        texts.append(column_texts(labels, subject.label))
        rows += ([*row, addition.recipe, addition.round] for row in zip(*texts, strict=True))
    return csv_of(rows)
