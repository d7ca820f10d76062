"""The folder of a repair: the model's file, the rows that were added, and the report in text, JSON and a picture.

The folder is written under another name beside its place and put there in one step, so that there is all of it or
nothing. One that has files in it is never written into: they may be a model that people are decided by.
"""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from fairdsl.backends.errors import cannot_write
from fairdsl.data.written import column_texts
from fairdsl.diagnostics import DiagnosticError
from fairdsl.repairing.plot import picture
from fairdsl.repairing.result import Repaired
from fairdsl.repairing.subject import Subject
from fairdsl.repairing.training import Training
from fairdsl.repairing.wording import summary

__all__ = ["ADDED", "PICTURE", "check_folder", "write_folder"]

ADDED, PICTURE = "added.csv", "rates.svg"
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


def write_folder(repaired: Repaired, file: Path, subject: Subject, training: Training) -> None:
    """Write all files of the repair; ``file`` is the model's, ``training`` what it learnt from."""
    place = repaired.output
    try:
        partial = Path(mkdtemp(prefix=f".{place.name}-", dir=place.absolute().parent))
    except OSError as problem:
        raise DiagnosticError(cannot_write(str(place), problem.strerror or str(problem), _ANOTHER)) from problem
    try:
        shutil.copyfile(file, partial / repaired.file)
        (partial / ADDED).write_text(_added(subject, training), encoding="utf-8", newline="")
        (partial / PICTURE).write_text(picture(repaired), encoding="utf-8")
        (partial / "report.txt").write_text("\n".join(summary(repaired)) + "\n", encoding="utf-8")
        (partial / "report.json").write_text(repaired.to_json(), encoding="utf-8")
        partial.chmod(0o755)  # a temporary folder is its owner's alone
        if place.is_dir():
            place.rmdir()
        partial.rename(place)
    except OSError as problem:
        shutil.rmtree(partial, ignore_errors=True)
        raise DiagnosticError(cannot_write(str(place), problem.strerror or str(problem), _ANOTHER)) from problem


def _added(subject: Subject, training: Training) -> str:
    """The added rows as a table of the spec's names, with the label that they were given, and where they are from."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = (*subject.domain.attributes, subject.label)
    writer.writerow([*(column.name for column in columns), "recipe", "round"])
    value_of = {outcome: value for value, outcome in subject.outcome_of.items()}
    for addition in training.additions:
        texts = [
            column_texts(addition.rows.values.column(index), attribute)
            for index, attribute in enumerate(subject.domain.attributes)
        ]
        labels = np.array([value_of[outcome] for outcome in addition.rows.outcomes.tolist()], dtype=np.float64)
        texts.append(column_texts(labels, subject.label))
        for row in zip(*texts, strict=True):
            writer.writerow([*row, addition.recipe, addition.round])
    return text.getvalue()
