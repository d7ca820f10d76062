"""Which value is the good one: what `init` takes, and what `audit` takes or asks about, is one rule."""

from __future__ import annotations

import pytest

from fairdsl.auditing.favourable import Sought, good_values
from fairdsl.diagnostics import DiagnosticError
from fairdsl.drafting.columns import columns_of
from fairdsl.drafting.good import Ground
from fairdsl.drafting.label import label_of


@pytest.mark.parametrize(
    ("header", "values", "good", "ground"),
    [
        ("outcome", ("0", "1"), "1", Ground.SO),
        ("outcome", ("-1", "1"), "1", Ground.SO),
        ("ok", ("n", "y"), "y", Ground.SO),
        ("default", ("0", "1"), "0", Ground.BAD_HEADER),
        ("default", ("0.0", "1.0"), "0.0", Ground.BAD_HEADER),  # as programs write columns that had gaps
        ("recidivism", ("High", "Low"), "Low", Ground.BAD_HEADER),
        ("risk", ("high", "low"), "high", Ground.GUESS),
        ("default", ("1", "2"), "2", Ground.GUESS),
        ("default", ("paid", "unpaid"), "paid", Ground.WORD),
        ("income", ("<=50K", ">50K"), ">50K", Ground.WORD),
        ("what", ("a", "b"), "b", Ground.GUESS),
        ("what", ("maybe", "yes"), "yes", Ground.GUESS),
    ],
)
def test_init_and_audit_take_the_same_value(header: str, values: tuple[str, ...], good: str, ground: Ground) -> None:
    (column,) = columns_of([header], [values * 5])
    label = label_of(column)
    assert label.why.startswith(f"`{good}` counts as positive ({ground.value})")
    assert {cell for cell, positive in zip(column.cells, label.positive, strict=True) if positive} == {good}
    sought = Sought(header=header, values=values, what=header, named=None, argument="positive")
    if ground is Ground.GUESS:
        with pytest.raises(DiagnosticError, match="which value of"):
            good_values(sought, None)
        return
    taken, _ = good_values(sought, None)
    other = next(value for value in values if value != good)
    assert taken is not None
    assert (taken.value, taken.why) == (good, f"{ground.value}; otherwise `positive={other!r}`")


def test_truth_values_are_those_of_any_capitals() -> None:
    """As a spec reads a boolean: the rows with the first spelling alone were taken for the positive ones."""
    cells = ("Yes", "no", "YES", "No", "yes", "NO")
    (column,) = columns_of(["repaid"], [cells * 5])
    label = label_of(column)
    assert (label.condition, label.two_valued) == ("repaid", True)
    assert label.positive == (True, False) * 15
    sought = Sought(header="repaid", values=tuple(sorted(set(cells))), what="repaid", named=None, argument="positive")
    found, _ = good_values(sought, None)
    assert found is not None
    assert (found.value.lower(), found.ground) == ("yes", Ground.SO)
