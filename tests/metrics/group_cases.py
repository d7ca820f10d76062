"""Populations and joints for the tests of metrics: a sex, an age in bins, and whether a loan was repaid."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Integer, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.population import Rows, Sample
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics import Bounds, Counted, Joint, Key
from fairdsl.prelude import metric_named
from fairdsl.verdict import Evidence, Value

F = Fraction

EVIDENCE = Evidence(backend="rates", method="weighted sums")
RACE = Attribute(
    name="race",
    type=Category(values=tuple(CategoryValue(name=name, code=code) for name, code in (("a", 0), ("b", 1), ("c", 5)))),
)
AGE = Attribute(name="age", type=Integer(low=18, high=90), bins=(F(25), F(45)))
WEALTH = Attribute(name="wealth", type=Real(low=None, high=None), bins=(F(1, 2),))
REPAID = Attribute(name="repaid", type=Boolean())

#: Columns 0 to 3; the label is the last one.
COLUMNS = (RACE, AGE, WEALTH, REPAID)


def people(values: list[list[float]] | None = None) -> Rows:
    """Rows [race, age, wealth, repaid]; without any, a population whose joint is given."""
    rows = ExactRows.of_floats(values or [[0, 30, 0, 1]])
    return Rows(
        name="cohort", columns=COLUMNS, has_label=True, sample=Sample(path="cohort.csv", sha256="00" * 32, values=rows)
    )


def about(metric: str, **clauses: object) -> GroupMetric:
    settled: dict[str, object] = {"across": (0,), "population": "cohort", **clauses}
    found = metric_named(metric, privileged="privileged" in clauses)
    if found.rate.about_deserving:
        settled.setdefault("deserving", F(1))
    return GroupMetric(metric=found, **settled)  # type: ignore[arg-type]


def joint(
    favourable: Mapping[Key, tuple[F, F]], total: Mapping[Key, tuple[F, F]], counts: Mapping[Key, Counted] | None = None
) -> Joint:
    return Joint(
        favourable={key: Bounds(low=low, high=high) for key, (low, high) in favourable.items()},
        total={key: Bounds(low=low, high=high) for key, (low, high) in total.items()},
        # Tests that are not about rows say so with the rows of somebody else.
        counts={(F(-1),): Counted(rows=1, least=0, most=0)} if counts is None else counts,
    )


def of_rates(rates: Mapping[Key, tuple[F, F]]) -> Joint:
    """A joint in which every key has the same probability and such a rate."""
    each = F(1, len(rates))
    return joint(
        {key: (low * each, high * each) for key, (low, high) in rates.items()}, dict.fromkeys(rates, (each, each))
    )


def ends(value: object) -> tuple[F, F]:
    assert isinstance(value, Value), value
    return value.low, value.high
