"""The closed question about rates of groups: a model, a distribution, groups, and what is made of their rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.masses import Law
from fairdsl_verify.question import Attribute, Column, Condition, Model, exact, items, keys, places_of, whole

FORMAT = "fairdsl.rates/3"
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


class RatesQuestion(Model):
    """All that a proof about rates of groups is about."""

    def __init__(self, data: Any) -> None:
        model = ("format", "property", "kind", "model", "attributes", "reads", "decides", "rules", "favourable")
        asked = ("where", "given", "law", "across", "each", "label", "rates", "compares", "folds", "privileged")
        others = ("excluding", "influence", "requires", "arithmetic", "rests", "claims")
        found = keys(data, (*model, *asked, *others), "the question")
        if found["format"] != FORMAT:
            reject(f"it is of the format {found['format']!r}; this program reads {FORMAT}")
        super().__init__(found)
        self.kind = found["kind"]
        if self.kind not in ("onnx", "linear", "written") or (self.kind == "written") is not (self.sha256 == ""):
            reject("the model is neither that of a file nor written in the question")
        self.rules = self._decided_by(self.attributes)
        if self.rules is not None and self.kind != "written":
            reject("a rule stands beside a file")
        if type(found["favourable"]) is not bool:
            reject("`favourable` is not a truth value")
        #: Whether what the model decides by `decides` is favourable; else everything else is.
        self.favourable: bool = found["favourable"]
        self._groups(found)
        self._metric(found)
        #: What nobody can read off the question: the digests of rows and rules that it was made of.
        self.rests = [str(each) for each in items(found["rests"], "`rests`")]
        if found["arithmetic"] not in ("real", "float32"):
            reject(f"`arithmetic` is {found['arithmetic']!r}, and not real or float32")
        self.deployed = found["arithmetic"] == "float32"
        if self.deployed and self.kind != "onnx":
            reject("nothing is deployed where there is no file that runs")
        claims = keys(found["claims"], ("low", "high", "margin"), "`claims`")
        self.claimed = exact(claims["low"], "`low`"), exact(claims["high"], "`high`")
        self.margin = exact(claims["margin"], "the margin")

    def _decided_by(self, attributes: Sequence[Attribute]) -> list[tuple[Condition, bool]] | None:
        """Rules in order, each a condition and whether it decides so; None where there is a score."""
        if self.said["rules"] is None:
            return None
        rules = [items(rule, "a rule") for rule in items(self.said["rules"], "the rules")]
        if any(len(rule) != 2 or type(rule[1]) is not bool for rule in rules):
            reject("a rule is not a condition and a decision")
        return [(Condition(rule[0], attributes), rule[1]) for rule in rules]

    def models(self) -> list[RatesQuestion]:
        """The question; of an influence also that of the model that reads what is drawn of each attribute instead."""
        pairs = [places_of(pair, self.attributes) for pair in items(self.said["influence"], "`influence`")]
        if any(len(pair) != 2 for pair in pairs) or len({*chain(*pairs)}) != 2 * len(pairs):
            reject("an influence is not an attribute and what is drawn of it")
        other, names = copy(self), {one: self.attributes[two].name for pair in pairs for one, two in (pair, pair[::-1])}
        other.attributes = [each.named(names.get(place, each.name)) for place, each in enumerate(self.attributes)]
        other.reads = [Column(item, other.attributes) for item in self.said["reads"]]
        other.rules = self._decided_by(other.attributes)
        return [self, other] if pairs else [self]

    def words(self) -> Iterator[str]:
        """The question as it is printed, and what it means."""
        yield from super().words()
        if self.said["influence"]:
            yield "meaning that metric, less the one where the model reads, for the first of an `influence`, the second"
        if self.deployed:
            yield f"meaning also in float32, where a score may be off by {self.margin}, and be decided either way"

    def _groups(self, found: dict[str, Any]) -> None:
        self.where, self.given = (Condition(found[key], self.attributes) for key in ("where", "given"))
        self.law = Law(found["law"], self.attributes)
        self.across, self.strata = (places_of(found[key], self.attributes) for key in ("across", "each"))
        self.label = None if found["label"] is None else places_of([found["label"]], self.attributes)[0]
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
