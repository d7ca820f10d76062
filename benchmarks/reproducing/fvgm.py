"""FVGM (Ghosh, Basu and Meel, AAAI 2022): accuracy, pace, reweighing, poisoning, influences and paths."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from group.measure import measured as timed
from group.sums import correlated, independent

from reproducing.audits import FREE, NETWORK, ROWS, Asked, checked, measured
from reproducing.classifiers import trained
from reproducing.justicia import RATES, reweighed
from reproducing.plots import Axes
from reproducing.results import Part, Row, Setting
from reproducing.tables import SHAPES, Table, table_of

__all__ = ["PARTS"]

#: The paper's running example, P + Q + R - S >= 2; Q independent (example 2) and given P (example 3).
EXAMPLE = """fair 1
audit "The running example"
domain Case {{
  p : boolean
  q : boolean
  r : boolean
  s : boolean
}}
protected p
model m : Case -> {{ no, yes }}
  score = (p = yes) + (q = yes) + (r = yes) - (s = yes)
  yes when score >= 2
  favourable yes
distribution law over Case
  p : table {{ no : 0.5, yes : 0.5 }}
{q}
  r : table {{ no : 0.5, yes : 0.5 }}
  s : table {{ no : 0.7, yes : 0.3 }}
property rates {{
  across p
  under law
  measure acceptance_rate
}}
"""
ALONE = "  q : table { no : 0.6, yes : 0.4 }"
GIVEN = "  q : table { no : 0.4, yes : 0.6 } given p = yes\n  q : table { no : 0.7, yes : 0.3 } given p = no"
#: The rates of p and of not p that the paper prints, and the exact ones.
EXAMPLES = {
    "example 2": (ALONE, {"p": (0.55, 0.55), "not p": (0.14, 0.14)}),
    "example 3": (GIVEN, {"p": (0.65, 0.65), "not p": (0.11, 0.105)}),
}


def examples(_: Setting) -> Iterator[Row]:
    for name, (q, rates) in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            found = checked(EXAMPLE.format(q=q), Path(folder))[0]["rates"]["acceptance_rate"].rates
        ours = {"p" if rate.group["p"] else "not p": float(rate.low) for rate in found}
        for group, (printed, exact) in rates.items():
            what, shown = f"{name}, rate of {group}", f"{ours[group]:g}"
            yield Row.held(what, shown, f"{exact:g}", "exact arithmetic", abs(ours[group] - exact) < 1e-12, "")
            near = abs(ours[group] - printed) <= 0.005 + 1e-12
            yield Row.held(what, shown, f"{printed:.2f}", "paper, rounded", near, "another number")


def accuracy(setting: Setting) -> Iterator[Row]:
    """The rates of a network and of independent columns beside the classifier's rates among the rows."""
    for name in SHAPES:
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        first = table.shape.protected[0]
        asked = [Asked(under=under, across=[first], metrics=RATES) for under in (ROWS, FREE, NETWORK)]
        found = measured(table, trained("LR", table), asked)
        truth, *others = (found.rates(place) for place in range(3))
        free, network = (max(abs(rates[group] - truth[group]) for group in truth) for rates in others)
        what = f"{name}: greatest error of a group's rate under the network"
        other = f"at most {free:.4f}, that of independent columns"
        why = "the edges are chosen for how likely they make the rows, not for this rate"
        row = Row.held(what, f"{network:.4f}", other, "paper's statement", network <= free + 1e-12, why)
        yield row.drawn(("network", name, network), ("independent columns", name, free))


FEW = "so few cells that going through all of them takes less than choosing an order of elimination"


def pace(setting: Setting) -> Iterator[Row]:
    """The engine beside the paper's recursion, on independent variables and on networks."""
    patience = 3.0 if setting.quick else 30.0
    drawn = {f"{size} independent variables": independent(size, 100, setting.seed) for size in (50, 100, 200)}
    for size in (16, 24):
        drawn |= {f"{size} variables, width {width}": correlated(size, width, 100, setting.seed) for width in (1, 3)}
    for name, problem in drawn.items():
        row = timed(problem, patience=patience, times=1)
        plain = f"none in {patience:g}" if row.plain is None else f"{row.plain:.4f}"
        faster = row.plain is None or row.seconds <= row.plain
        what = f"{name}: CPU s"
        cell = Row.held(what, f"{row.seconds:.4f}", plain, "the recursion, written plainly", faster, FEW)
        recursion = patience if row.plain is None else row.plain
        yield cell.drawn(("fairdsl", name, row.seconds), ("the recursion, at least", name, recursion))
        if row.difference is not None:
            shown = f"{row.difference:.0e}"
            yield Row.held(f"{name}: difference of rates", shown, "0", "the recursion", row.passed, "other rates")


def _poisoned(table: Table, strength: float, random: np.random.Generator) -> Table:
    """So many more rows, in parts of those there are: deserving people of the less favoured sex, called undeserving."""
    group = table.cells[table.shape.protected[0]]
    rates = {value: float(table.label[group == value].mean()) for value in sorted(set(group.tolist()))}
    victims = np.flatnonzero((group == min(rates, key=lambda value: rates[value])) & (table.label == 1))
    added = random.choice(victims, size=round(strength * table.size))
    whole = table.rows(np.concatenate([np.arange(table.size), added]))
    label = whole.label.copy()
    label[table.size :] = 0
    return whole.with_label(label)


def poisoning(setting: Setting) -> Iterator[Row]:
    strengths = (0.0, 0.05, 0.1, 0.2, 0.4) if setting.quick else (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
    for name in ("compas", "german"):
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        random, before = np.random.default_rng(setting.seed), 0.0
        asked = [Asked(under=NETWORK, across=[table.shape.protected[0]], metrics=RATES)]
        for strength in strengths:
            classifier = trained("LR", _poisoned(table, strength, random))
            gap = measured(table, classifier, asked).number("parity_gap")
            what = f"{name}, {strength:.0%} poisoned rows: statistical parity"
            if strength == 0:
                row = Row(what=what, ours=f"{gap:.4f}")
            else:
                why = "a classifier that was trained again need not follow each step"
                other = f"at least {before:.4f}: more poison, more disparity"
                row = Row.held(what, f"{gap:.4f}", other, "paper's statement", gap >= before - 1e-12, why)
            yield row.drawn((name, strength, gap))
            before = gap


UNIFORM = "each group is compared with a uniform column, so what counts too is how uneven a column is"


def influences(setting: Setting) -> Iterator[Row]:
    """Pr[favourable | group] less the same with the column uniform and independent, of each column and group."""
    for name in ("compas", "adult", "german", "titanic"):
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        across = table.shape.protected[:1]
        columns = [each for each in table.cells if each not in table.shape.protected]
        metrics = [f"influence of {each} on acceptance_rate" for each in columns]
        found = measured(table, trained("LR", table), [Asked(under=NETWORK, across=across, metrics=metrics)])
        apart = {}
        for column, metric in zip(columns, metrics, strict=True):
            each = {", ".join(map(str, part.at.values())): float(part.low) for part in found.values[0][metric].parts}
            apart[column] = max(each.values()) - min(each.values())
            for group, number in each.items():
                row = Row(what=f"{name}, {column} on Pr[favourable | {group}]", ours=f"{number:+.4f}")
                yield row.drawn((f"{name}: {group}", column, number))
        most = max(apart, key=lambda column: apart[column])
        what = f"{name}: the column whose influence differs most between the groups"
        if table.invented:
            planted = {each.name: abs(each.pull * each.weight) for each in table.shape.columns if each.name in columns}
            source = max(planted, key=lambda column: planted[column])
            yield Row.held(what, most, source, "planted as the source of bias", most == source, UNIFORM)
        else:
            yield Row(what=what, ours=most)


def paths(setting: Setting) -> Iterator[Row]:
    """The whole gap, and what is left where the group acts through one column alone; each column depends on sex."""
    for name in ("compas", "adult", "titanic"):
        table = table_of(name, setting.data, setting.drawn, setting.seed, setting.bins)
        first = table.shape.protected[0]
        others = [each for each in table.cells if each != first]
        edges = [f"  {first} -> {each} -> m" for each in others] + [f"  {first} -> m"]
        graph = "graph paths {\n" + "\n".join(edges) + "\n}"
        baseline = sorted(set(table.cells[first].tolist()))[0]
        asked = [Asked(under=NETWORK, across=[first], metrics=["parity_gap"])]
        for column in others:
            further = f'  allow {first} -> {column} -> m\n  baseline {first} = "{baseline}"\n'
            asked.append(Asked(under=NETWORK, across=[first], metrics=["path_specific_gap"], further=further))
        found = measured(table, trained("LR", table), asked, graph=graph)
        whole = found.number("parity_gap")
        yield Row(what=f"{name}: statistical parity", ours=f"{whole:.4f}").drawn((f"{name}: gap", "all", whole))
        for place, column in enumerate(others, 1):
            left = found.values[place]["path_specific_gap"]
            low, high = float(left.low), float(left.high)
            shown = f"{low:.4f}" if low == high else f"{low:.4f} .. {high:.4f}"
            what = f"{name}: left when {first} -> {column} -> m may carry influence"
            yield Row(what=what, ours=shown).drawn((f"{name}: gap", column, high))


PARTS = (
    Part(
        name="examples",
        title="Worked examples",
        note="Rates of the sum P + Q + R - S >= 2. Example 1 is left out: its printed rates do not follow from its"
        " printed parameters.",
        rows=examples,
    ),
    Part(
        name="accuracy",
        title="Accuracy with and without dependences",
        note="Logistic regressions: the rates of groups under a learned network and under independent columns, "
        "beside those among the rows.",
        rows=accuracy,
        axes=Axes(x="", y="greatest error of a rate"),
    ),
    Part(
        name="pace",
        title="Run time by variables and width",
        note="From the closed problem to both rates, beside the paper's recursion written plainly in Python.",
        rows=pace,
        axes=Axes(x="", y="CPU s", log=True),
    ),
    Part(
        name="reweighing",
        title="Reweighing, verified under a network",
        note="Logistic regressions before and after reweighing; optimised preprocessing is left out. Equalized "
        "odds over the rows.",
        rows=lambda setting: reweighed(setting, NETWORK, ("LR",)),
        axes=Axes(x="", y="statistical parity"),
    ),
    Part(
        name="poisoning",
        title="Poisoning over the strength of the attack",
        note="Rows of deserving people of the less favoured sex are added as undeserving; the model is trained "
        "again and measured under the network of the rows without poison.",
        rows=poisoning,
        axes=Axes(x="poisoned rows, of the rows", y="statistical parity"),
    ),
    Part(
        name="influence",
        title="Figures 6 and 12: influence functions",
        note="Pr[favourable | group] less the same where the column is uniform and independent of the rest given "
        "the group.",
        rows=influences,
        axes=Axes(x="", y="influence on the rate"),
    ),
    Part(
        name="paths",
        title="Path-specific gaps",
        note="Each column depends on the group alone, by a graph that is assumed for the measurement and says nothing "
        "about causes. The paper's own gaps are of public tables and not at hand, so nothing is compared.",
        rows=paths,
        axes=Axes(x="through", y="gap that is left"),
    ),
)
