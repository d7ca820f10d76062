"""Justicia (Ghosh, Basu and Meel, AAAI 2021): accuracy, run times, reweighing, compound groups, sample sizes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import isnan, sqrt
from pathlib import Path
from statistics import NormalDist, pstdev

import numpy as np
from group.answers import reproduced
from group.cases import cases_in
from group.formulas import raw
from group.trees import tree_cases_in

from reproducing.audits import FREE, ROWS, WITHIN, Asked, checked, measured
from reproducing.classifiers import KINDS, reweighing, trained
from reproducing.plots import Axes
from reproducing.results import Part, Row, Setting
from reproducing.tables import SHAPES, table_of

__all__ = ["PARTS", "reweighed"]

RATES = ("acceptance_rate", "impact_ratio", "parity_gap")
#: The tree of the paper's example over the normal distributions of its figure 1.
EXAMPLE = """fair 1
audit "Health insurance by fitness and income"
domain Person {
  older : boolean
  fitness : real
  income : real
}
protected older
model m : Person -> { no, yes }
  score = (fitness >= 0.61 and income >= 0.29) + (fitness < 0.61 and income >= 0.69)
  yes when score > 0.5
  favourable yes
distribution people over Person
  older : table { no : 0.5, yes : 0.5 }
  fitness : normal(0.7, 0.1) given older = no
  fitness : normal(0.3, 0.1) given older = yes
  income : normal(0.4, 0.1) given older = no
  income : normal(0.6, 0.1) given older = yes
property rates {
  across older
  under people
  measure acceptance_rate
  measure impact_ratio
  measure parity_gap
}
"""
#: Rates of the example in the paper's introduction, to two digits: of those below 40, and of the older.
PUBLISHED = {"of those below 40": 0.72, "of those above 40": 0.18}
COARSE = "the paper multiplies frequencies of sampled Booleans; the normal distributions give this number"


def _in_closed_form(fitness: NormalDist, income: NormalDist) -> float:
    unfit = fitness.cdf(0.61)
    return (1 - unfit) * (1 - income.cdf(0.29)) + unfit * (1 - income.cdf(0.69))


def gaussians(_: Setting) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        found = checked(EXAMPLE, Path(folder))[0]["rates"]
    young = _in_closed_form(NormalDist(0.7, 0.1), NormalDist(0.4, 0.1))
    older = _in_closed_form(NormalDist(0.3, 0.1), NormalDist(0.6, 0.1))
    rates = sorted(found["acceptance_rate"].rates, key=lambda rate: bool(rate.group["older"]))
    ours = {name: (rate.low, rate.high) for name, rate in zip(PUBLISHED, rates, strict=True)}
    ours["disparate impact"] = (found["impact_ratio"].low, found["impact_ratio"].high)
    ours["statistical parity"] = (found["parity_gap"].low, found["parity_gap"].high)
    closed = (young, older, older / young, young - older)
    for (name, (low, high)), exact in zip(ours.items(), closed, strict=True):
        shown, near = f"{float(low):.6f}", float(low) - 1e-9 <= exact <= float(high) + 1e-9
        yield Row.held(name, shown, f"{exact:.6f}", "closed form", near, "the enclosure does not hold it")
        if name in PUBLISHED:
            same = abs(float(low) - PUBLISHED[name]) < 0.01
            yield Row.held(name, shown, f"{PUBLISHED[name]:.2f}", "paper", same, COARSE)


def times(setting: Setting) -> Iterator[Row]:
    """Of each table and kind of model; then the tool's own problems beside its seconds and its answers."""
    names = list(SHAPES)
    warm = table_of(names[0], setting.data, 100, setting.seed, setting.bins)
    measured(warm, trained("LR", warm), [Asked(under=FREE, across=["sex"], metrics=RATES)])
    for name in names:
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        for kind in KINDS:
            asked = [Asked(under=FREE, across=table.shape.protected, metrics=RATES)]
            found = measured(table, trained(kind, table), asked)
            what = f"{name}, {kind}{', invented' if table.invented else ''}: CPU s"
            yield Row.held(
                what,
                f"{found.seconds:.2f}",
                "under 10",
                "paper's statement, that it scales",
                found.seconds < 10,
                "slow",
            )
    folder = None if setting.data is None else setting.data / "group"
    if folder is None or not folder.is_dir():
        return
    for row in map(raw, tree_cases_in(folder)):
        said = f"{row.published:.6f}"
        near = abs(row.impact_ratio - row.published) < 1e-6
        yield Row.held(f"{row.case}: impact ratio", f"{row.impact_ratio:.6f}", said, "tool, measured", near, "")
        what, shown = f"{row.case}: CPU s", f"{row.published_seconds:.2f}"
        faster = row.seconds <= row.published_seconds
        yield Row.held(what, f"{row.seconds:.4f}", shown, "tool, measured (wall)", faster, "slower")
    for case in cases_in(folder):
        for network in (False, True):
            ours = reproduced(case, network)
            what = f"{case.name}, {'network' if network else 'independent'}: impact ratio"
            near = abs(ours.impact_ratio - ours.published) < 1e-6
            shown = f"{ours.impact_ratio:.6f}"
            yield Row.held(what, shown, f"{ours.published:.6f}", "tool, measured", near, "another answer")


def reweighed(setting: Setting, under: str, kinds: tuple[str, ...] = KINDS) -> Iterator[Row]:
    """Metrics before and after reweighing: whether it brings each nearer to no difference, as the papers state."""
    for name in SHAPES:
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        first = table.shape.protected[0]
        metrics = [("impact_ratio", "disparate impact", 0), ("parity_gap", "statistical parity", 0)]
        metrics.append(("odds_gap", "equalized odds", 1))
        asked = [Asked(under=under, across=[first], metrics=RATES)]
        asked.append(Asked(under=ROWS, across=[first], metrics=["odds_gap"]))
        for kind in kinds:
            before = measured(table, trained(kind, table), asked)
            after = measured(table, trained(kind, table, reweighing(table)), asked)
            for metric, title, question in metrics:
                was, now = before.number(metric, question), after.number(metric, question)
                better = abs(now - 1) < abs(was - 1) if metric == "impact_ratio" else now < was
                what = f"{name}, {kind}, {title}: before -> after"
                why = "reweighing aims at equal rates of the label, not at this metric"
                if metric != "odds_gap":
                    why = "the classifier that was trained again moves in steps: few leaves, few values"
                shown = f"{was:.4f} -> {now:.4f}"
                if isnan(was) or isnan(now):
                    yield Row(what=what, ours=shown, reason="one of the two accepts nobody, so the ratio is undefined")
                    continue
                if was == now:
                    yield Row(what=what, ours=shown, reason="unchanged: trained again, it decides as before")
                    continue
                row = Row.held(what, shown, "nearer to fair", "paper's statement", better, why)
                points = (("before", f"{name}, {kind}", was), ("after", f"{name}, {kind}", now))
                yield row.drawn(*points) if metric == "parity_gap" else row


def compound(setting: Setting) -> Iterator[Row]:
    for name in ("adult", "compas"):
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        sets = [["sex"], ["race"], ["sex", "race"], ["sex", "race", "age"]]
        asked = [Asked(under=FREE, across=across, metrics=RATES) for across in sets]
        found = measured(table, trained("LR", table), asked)
        before = 1.0
        for place, across in enumerate(sets):
            ratio, count = found.number("impact_ratio", place), len(found.rates(place))
            what = f"{name}, {' x '.join(across)} ({count} groups): impact ratio"
            if isnan(ratio):
                yield Row(what=what, ours="undefined", reason="nobody is accepted")
            elif len(across) == 1:
                before = min(before, ratio)
                yield Row(what=what, ours=f"{ratio:.4f}").drawn((name, " x ".join(across), ratio))
            else:
                other = f"at most {before:.4f}: more groups, more disparity"
                fewer = ratio <= before + 1e-12
                row = Row.held(what, f"{ratio:.4f}", other, "paper's statement", fewer, "more equal")
                yield row.drawn((name, " x ".join(across), ratio))
                before = ratio


def sizes(setting: Setting) -> Iterator[Row]:
    """How far estimates from samples scatter: rates of the sample, and of a distribution that is fitted to it."""
    counted = [100, 200, 400] if setting.quick else [100, 200, 400, 800, 1600, 3200]
    draws = 6 if setting.quick else 20
    unsure = f"a standard deviation of {draws} draws is itself uncertain by about {1 / sqrt(2 * (draws - 1)):.0%}"
    random = np.random.default_rng(setting.seed)
    for name in ("adult", "compas"):
        table = table_of(name, setting.data, max(setting.drawn, 2 * counted[-1]), setting.seed, setting.bins)
        classifier, first = trained("LR", table), table.shape.protected[0]
        for size in [each for each in counted if 2 * each <= table.size]:
            asked = [Asked(under=under, across=[first], metrics=RATES) for under in (ROWS, WITHIN)]
            samples = [table.rows(random.permutation(table.size)[:size]) for _ in range(draws)]
            found = [measured(table, classifier, asked, fitted=sample) for sample in samples]
            gaps = [[each.number("parity_gap", place) for each in found] for place in (0, 1)]
            of_rows, of_law = map(pstdev, gaps)
            what = f"{name}, {size} rows: standard deviation of statistical parity"
            other = f"at most {of_rows:.4f}, that of the sample's own rates"
            shown = f"{of_law:.4f} (from {min(gaps[1]):.4f} to {max(gaps[1]):.4f})"
            row = Row.held(what, shown, other, "paper's statement", of_law <= of_rows, unsure)
            yield row.drawn((f"{name}: rows", size, of_rows), (f"{name}: distribution", size, of_law))


PARTS = (
    Part(
        name="table1",
        title="Table 1: accuracy on normal distributions",
        note="Rates of the paper's example, a tree over fitness and income; fairdsl encloses those of the normal "
        "columns.",
        rows=gaussians,
    ),
    Part(
        name="table2",
        title="Table 2: run times of trees and linear models",
        note="CPU seconds of a whole `check` of three metrics, interpreter and imports excluded. The paper says that "
        "it scales; a row agrees where that takes less than ten seconds. Problems of the folder are asked as the tool "
        "asks them, each variable a Boolean of its own.",
        rows=times,
    ),
    Part(
        name="table3_4",
        title="Tables 3 and 4: before and after reweighing",
        note="Logistic regressions and trees of depth 3; rates under independent columns, equalized odds over the "
        "rows. Optimised preprocessing is left out.",
        rows=lambda setting: reweighed(setting, FREE),
        axes=Axes(x="", y="statistical parity"),
    ),
    Part(
        name="figure2",
        title="Figure 2: compound groups",
        note="A logistic regression with its impact ratio across more and more protected columns, all values of "
        "them groups.",
        rows=compound,
        axes=Axes(x="groups by", y="impact ratio"),
    ),
    Part(
        name="figure3",
        title="Figure 3: stability over sample size",
        note="A logistic regression, measured with samples of so many rows: scatter of the sample's own rates "
        "(as AIF360 has them) and of those under columns that are independent within each group, fitted to the sample.",
        rows=sizes,
        axes=Axes(x="rows", y="standard deviation of the gap"),
    ),
)
