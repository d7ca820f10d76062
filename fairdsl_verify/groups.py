"""The closed question about rates of groups: a model, a distribution, groups, and what is made of their rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.masses import Law
from fairdsl_verify.question import Condition, Model, exact, items, keys, whole

FORMAT = "fairdsl.rates/2"
#: What is made of the rates of groups, and what several strata come to, of which the worst decides.
COMPARES = {
    "gap": "greatest",
    "ratio": "smallest",
    "difference": "span",
    "quotient": "span",
    "every": "span",
    "most": "span",
    "least": "span",
}
_SIGNED = ("difference", "quotient")
#: What the numbers at several conditions of a rate come to.
_FOLDS = ("single", "greatest", "smallest", "mean")


@dataclass
class Rate:
    """One condition of the rate: which labels, by cells, with which decisions are hits, and which are misses."""

    hits: list[tuple[int, bool]]
    misses: list[tuple[int, bool]]

    def words(self, labels: Sequence[str]) -> str:
        """As it is printed."""
        hits, misses = (
            " or ".join(
                f"{'favourable' if decision else 'unfavourable'}{f' and {labels[cell]}' if labels else ''}"
                for cell, decision in part
            )
            or "nobody"
            for part in (self.hits, self.misses)
        )
        return f"hits are {hits}; misses are {misses}"


class RatesQuestion(Model):
    """All that a proof about rates of groups is about."""

    def __init__(self, data: Any) -> None:
        model = ("format", "property", "kind", "model", "attributes", "reads", "decides", "rules", "favourable")
        asked = ("where", "given", "law", "across", "each", "label", "rates", "compares", "folds", "privileged")
        found = keys(data, (*model, *asked, "excluding", "requires", "rests", "claims"), "the question")
        if found["format"] != FORMAT:
            reject(f"it is of the format {found['format']!r}; this program reads {FORMAT}")
        super().__init__(found)
        self.kind = found["kind"]
        if self.kind not in ("onnx", "linear", "written") or (self.kind == "written") is not (self.sha256 == ""):
            reject("the model is neither that of a file nor written in the question")
        #: Rules in order, each a condition and whether it decides so; None where there is a score.
        self.rules: list[tuple[Condition, bool]] | None = None
        if found["rules"] is not None:
            rules = [items(rule, "a rule") for rule in items(found["rules"], "the rules")]
            if self.kind != "written" or any(len(rule) != 2 or type(rule[1]) is not bool for rule in rules):
                reject("a rule is not a condition and a decision, or stands beside a file")
            self.rules = [(Condition(rule[0], self.attributes), rule[1]) for rule in rules]
        if type(found["favourable"]) is not bool:
            reject("`favourable` is not a truth value")
        #: Whether what the model decides by `decides` is favourable; else everything else is.
        self.favourable: bool = found["favourable"]
        self._groups(found)
        self._metric(found)
        #: What nobody can read off the question: the digests of rows and rules that it was made of.
        self.rests = [str(each) for each in items(found["rests"], "`rests`")]
        claims = keys(found["claims"], ("low", "high"), "`claims`")
        self.claimed = exact(claims["low"], "`low`"), exact(claims["high"], "`high`")

    def _groups(self, found: dict[str, Any]) -> None:
        self.where, self.given = (Condition(found[key], self.attributes) for key in ("where", "given"))
        self.law = Law(found["law"], self.attributes)
        self.across, self.strata = (self._columns(found[key]) for key in ("across", "each"))
        self.label = None if found["label"] is None else self._columns([found["label"]])[0]
        if self.label in (*self.across, *self.strata):
            reject("the label makes groups")
        self.keys = list(dict.fromkeys((*self.across, *self.strata, *([] if self.label is None else [self.label]))))

    def _metric(self, found: dict[str, Any]) -> None:
        rates = [keys(rate, ("hits", "misses"), "a rate") for rate in items(found["rates"], "the rates")]
        self.rates = [Rate(self._decided(rate["hits"]), self._decided(rate["misses"])) for rate in rates]
        if not self.rates or any(set(rate.hits) & set(rate.misses) for rate in self.rates):
            reject("there are no rates, or a hit is a miss")
        self.compares, self.folds = found["compares"], found["folds"]
        if self.compares not in COMPARES or self.folds not in _FOLDS:
            reject("rates are compared, or folded, in no known way")
        if self.folds == "single" and len(self.rates) != 1:
            reject("there are several rates, and nothing says what they come to")
        groups = list(product(*(range(len(self.law.cells[column])) for column in self.across)))
        self.privileged = None
        if found["privileged"] is not None:
            self.privileged = tuple(whole(cell, "a cell") for cell in items(found["privileged"], "a group"))
        if (self.compares in _SIGNED) is not (self.privileged in groups):
            reject("there is no privileged group, or nothing is compared with it")
        self._excludes(found["excluding"])
        #: What is required of the number; nothing where it is measured.
        self.required, self.limit = "", Fraction(0)
        if found["requires"] is not None:
            self.required, limit = items(found["requires"], "what is required")
            self.limit = exact(limit, "a limit")
            if self.required not in ("<", "<=", ">", ">="):
                reject("what is required is no relation to a number")

    def _columns(self, data: Any) -> list[int]:
        columns = [whole(column, "a column") for column in items(data, "columns")]
        if len(set(columns)) != len(columns) or not all(0 <= column < len(self.attributes) for column in columns):
            reject("a column is named twice, or there is none")
        return columns

    def _decided(self, data: Any) -> list[tuple[int, bool]]:
        found = []
        for item in items(data, "what is counted"):
            label, decision = items(item, "a label and a decision") if len(item) == 2 else (None, None)
            count = 1 if self.label is None else len(self.law.cells[self.label])
            label = whole(label, "a label")
            if type(decision) is not bool or not 0 <= label < count:
                reject("what is counted is no label and decision")
            found.append((label, bool(decision)))
        if len(set(found)) != len(found):
            reject("something is counted twice")
        return found

    def _excludes(self, data: Any) -> None:
        """Whether groups of probability 0 are left out, and which others: lists of the cells of group and stratum."""
        self.excludes, self.listed = data is not None, set[tuple[tuple[int, ...], tuple[int, ...]]]()
        for item in items(data, "what is left out") if data is not None else []:
            group, stratum = items(item, "a group") if len(item) == 2 else ([], [])
            cells = [tuple(whole(cell, "a cell") for cell in items(part, "cells")) for part in (group, stratum)]
            self.listed.add((cells[0], cells[1]))

    def group_words(self, columns: Sequence[int], cells: Sequence[int]) -> str:
        """A group as it is printed."""
        parts = [
            f"{self.attributes[column].name} = {self.law.cell_words(column, cell)}"
            for column, cell in zip(columns, cells, strict=True)
        ]
        return " and ".join(parts) or "everybody"

    def words(self) -> Iterator[str]:
        """The question as it is printed."""
        yield from self.heading()
        yield f"where      {self.where.words()}"
        yield f"given      {self.given.words()}"
        yield from self.law.words()
        side = "favourable" if self.favourable else "unfavourable"
        if self.rules is not None:
            for condition, decision in self.rules:
                yield f"rule       {side if decision else f'not {side}'} where {condition.words()}; else"
            yield f"rule       not {side}"
        else:
            yield from self.columns()
            scored = {"onnx": "of the file", "linear": "of the file", "written": "the sum of the columns"}[self.kind]
            yield f"decides    {self.of} {self.relation} {self.threshold}, {scored}: then it is {side}, else not"
        yield f"groups     {self._names(self.across)}{', for each ' + self._names(self.strata) if self.strata else ''}"
        labels = [] if self.label is None else [self._label(cell) for cell in range(len(self.law.cells[self.label]))]
        for rate in self.rates:
            yield f"rate       {rate.words(labels)}"
        several = "" if self.folds == "single" else f", of several the {self.folds}"
        yield f"compares   {self.compares}{several}"
        if self.privileged is not None:
            yield f"privileged {self.group_words(self.across, self.privileged)}; all others are one group"
        if self.excludes:
            yield "left out   groups of probability 0"
            for group, stratum in sorted(self.listed):
                yield f"left out   {self.group_words((*self.across, *self.strata), (*group, *stratum))}"
        if self.required:
            yield f"requires   {self.required} {self.limit}"
        for each in self.rests:
            yield f"rests on   {each}"
        yield "arithmetic real, on the numbers that the question and the model's file state"

    def _names(self, columns: Sequence[int]) -> str:
        return ", ".join(self.attributes[column].name for column in columns)

    def _label(self, cell: int) -> str:
        assert self.label is not None, "who asks knows that there is one"
        return self.group_words([self.label], [cell])
