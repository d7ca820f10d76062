"""`init` on invented tables of 10 to 30 columns: each spec that it writes checks without an edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_init import written

import fairdsl

Table = dict[str, list[str]]
ROWS = 240


class Drawn:
    """Columns of cells, each drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._drawn = np.random.default_rng(seed)

    def names(self, *values: str) -> list[str]:
        return [values[place] for place in self._drawn.integers(0, len(values), ROWS)]

    def whole(self, low: int, high: int) -> list[str]:
        return [str(each) for each in self._drawn.integers(low, high + 1, ROWS)]

    def real(self, low: float, high: float, digits: int = 2) -> list[str]:
        return [f"{each:.{digits}f}" for each in self._drawn.uniform(low, high, ROWS)]

    def dates(self, form: str) -> list[str]:
        days = map(int, self.whole(0, 999))
        return [form.format(y=2000 + each % 25, m=1 + each % 12, d=1 + each % 28) for each in days]

    def gaps(self, cells: list[str], word: str = "", share: float = 0.1) -> list[str]:
        return [word if each < share else cell for each, cell in zip(self._drawn.random(ROWS), cells, strict=True)]

    def texts(self) -> list[str]:
        return [f'Called on day {each}; said "no, {each * 7}".' for each in map(int, self.whole(0, 10**6))]

    def keys(self, form: str = "{}") -> list[str]:
        return [form.format(row) for row in range(1, ROWS + 1)]


def loans() -> Table:
    """Ten columns, plain ones."""
    drawn = Drawn(1)
    return {
        "loan_id": drawn.keys("L-{:05d}"),
        "sex": drawn.names("f", "m"),
        "age": drawn.whole(18, 79),
        "income": drawn.gaps(drawn.real(900, 7200)),
        "purpose": drawn.names("car", "house", "radio/TV", "education"),
        "opened": drawn.dates("{y}-{m:02d}-{d:02d}"),
        "currency": ["EUR"] * ROWS,
        "comment": drawn.texts(),
        "amount": drawn.whole(200, 20_000),
        "repaid": drawn.names("yes", "no"),
    }


def anmeldungen() -> Table:
    """Twenty columns in German, with headers and values that are not names of the language."""
    drawn = Drawn(2)
    land = drawn.names("Österreich", "Türkei", "Côte d'Ivoire")
    return {
        "Nr.": drawn.keys(),
        "Geschlecht": drawn.names("weiblich", "männlich", "divers"),
        "Geburtsdatum": drawn.dates("{d:02d}.{m:02d}.{y}"),
        "Alter (Jahre)": drawn.whole(16, 35),
        "Staatsangehörigkeit": land,
        "Land": land,
        "Note %": drawn.real(0, 100, 1),
        "2. Fach": drawn.gaps(drawn.names("Chemie", "Physik", "Mathematik"), "keine"),
        "behindert": drawn.names("ja", "nein"),
        "Kinder": drawn.gaps(drawn.whole(0, 4), "NA"),
        "Religion": drawn.gaps(drawn.names("evangelisch", "katholisch", "keine Angabe"), "?"),
        "Bemerkung": drawn.texts(),
        "Mandant": ["1"] * ROWS,
        "leer": [""] * ROWS,
        "Entfernung": drawn.real(0.5, 320, 3),
        "Semester": drawn.names("1", "2", "3", "4"),
        "Code": drawn.names("10", "20", "35"),
        "true": drawn.names("0", "1"),
        "model": drawn.names("A", "B"),
        "aufgenommen": drawn.names("0", "1"),
    }


def patients() -> Table:
    """Thirty columns, some twice, of a width that spreadsheets have."""
    drawn = Drawn(3)
    table = {
        "record": drawn.keys("{:09d}"),
        "race/ethnicity": drawn.names("White", "Black or African American", "Asian", "n/a"),
        "gender": drawn.gaps(drawn.names("F", "M"), "Unknown", 0.03),
        "age_group": drawn.names("[0-10)", "[10-20)", "[70-80)"),
        "admitted at": drawn.dates("{y}-{m:02d}-{d:02d}T08:30:00"),
        "weight": drawn.gaps(drawn.real(45, 130, 1), "?", 0.6),
        "payer": drawn.gaps(drawn.names("MC", "HM", "BC"), "", 0.4),
        "notes": drawn.texts(),
        "hospital": ["General"] * ROWS,
        "pregnant": drawn.names("True", "False"),
        "zip": drawn.names("02139", "94110", "60601"),
        "readmitted": drawn.names("NO", "<30", ">30"),
    }
    table |= {f"lab {number}": drawn.gaps(drawn.real(-3, 3, 4), "NaN", 0.02 * number) for number in range(9)}
    table |= {f"count_{number}": drawn.whole(0, 3**number) for number in range(6)}
    table |= {f"copy of count_{number}": table[f"count_{number}"] for number in range(3)}
    assert len(table) == 30
    return table


@pytest.mark.parametrize(
    ("made", "label", "protected"),
    [
        (loans, "repaid", ("sex", "age")),
        (anmeldungen, "aufgenommen", ("Geschlecht", "behindert", "Staatsangehorigkeit", "Religion", "Alter_Jahre")),
        (patients, "readmitted", ("gender", "race_ethnicity", "age_group", "pregnant")),
    ],
)
def test_the_spec_checks_without_an_edit(
    made: Callable[[], Table], label: str, protected: tuple[str, ...], tmp_path: Path
) -> None:
    table = made()
    drafted = fairdsl.init(written(tmp_path, table), label=label)
    assert set(drafted.protected) == set(protected)
    assert len(drafted.attributes) + len(drafted.left_out) == len(table)
    assert not [each for each in fairdsl.lint(drafted.path, files=True) if each.code.startswith("E")]
    report = fairdsl.check(drafted.path, timeout=60)
    assert {each.judgement.value for each in report.properties} <= {"holds", "violated", "measured"}
    assert report.properties
