"""A problem as the closed question of a proof: JSON that names nothing outside of it but the model's file."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, Variable, Who, holds, opposite, variables
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import ByThreshold, Deployed, Readout
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, SameDecision
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import FORMAT

#: What chooses a label in files whose labels have proofs.
_CHOOSING = ("TreeEnsembleClassifier", "LinearClassifier", "ArrayFeatureExtractor")
#: Values of an attribute at most that are listed one by one.
_LISTED = 4096


class Unproved(Exception):  # noqa: N818 - an outcome, no error
    """The format has no proofs of such questions; the message says why."""


def question_of(problem: Problem, graph: Graph) -> dict[str, Any]:
    """The question about the model in a file's graph, without claims. Raises Unproved."""
    pair, model = problem.question, problem.model
    if not isinstance(pair, Pair) or not isinstance(pair.demand, SameDecision):
        raise Unproved("only questions about pairs with the same decision have proofs so far")
    if pair.sure:
        raise Unproved("questions `when confidence` is high have no proofs so far")
    if problem.population is not None or problem.others:
        raise Unproved("shares under a distribution have no proofs so far")
    if problem.quantity not in (Quantity.HOLDS, Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE):
        raise Unproved(f"`{problem.quantity.value}` has no proofs so far")
    if model.deployed is None or not isinstance(model.rule, ByThreshold):
        raise Unproved("only models of ONNX files with one score and a threshold have proofs so far")
    attributes = problem.domain.attributes
    return {
        "format": FORMAT,
        "property": problem.name,
        "model": model.deployed.sha256,
        "attributes": [attribute_of(attribute) for attribute in attributes],
        "reads": reads_of(model.deployed, attributes),
        "decides": decides_of(model.deployed, graph),
        "differ": [attributes[place].name for place in pair.differ],
        "mode": "each" if pair.mode is Differ.EACH else "any",
        "where": condition_of(problem.domain.where, attributes),
        "target": condition_of(pair.target, attributes),
        "relax": [
            [attributes[each.attribute].name, None if each.by is None else number_of(each.by)] for each in pair.relax
        ],
        "pair": condition_of(pair.pair_target, attributes, both=True),
        "asks": "holds" if problem.quantity is Quantity.HOLDS else "share",
        "arithmetic": "real",
    }


def number_of(value: Fraction | int) -> int | str:
    """A number as a question has it."""
    value = Fraction(value)
    return int(value) if value.denominator == 1 else str(value)


def attribute_of(attribute: Attribute) -> dict[str, Any]:
    """An attribute; raises Unproved."""
    if attribute.present is not None:
        raise Unproved(f"`{attribute.name}` may be missing; that has no proofs so far")
    match attribute.type:
        case Category(values=values):
            ordered = sorted(values, key=lambda value: value.code)
            return {
                "name": attribute.name,
                "type": "values",
                "values": [value.code for value in ordered],
                "labels": [value.name for value in ordered],
            }
        case Boolean():
            return {"name": attribute.name, "type": "values", "values": [0, 1], "labels": ["false", "true"]}
        case Integer(low=low, high=high):
            return {"name": attribute.name, "type": "integer", "low": low, "high": high}
        case Real(low=low, high=high):
            if low is None or high is None or low >= high:
                raise Unproved(f"`{attribute.name}` is unbounded, or one number; that has no proofs so far")
            return {"name": attribute.name, "type": "real", "low": number_of(low), "high": number_of(high)}


def decides_of(deployed: Deployed, graph: Graph) -> dict[str, Any]:
    """When the file decides how; raises Unproved."""
    chosen = any(node.op in _CHOOSING for node in graph.nodes)
    if chosen and deployed.readout is Readout.LABEL and deployed.output == graph.outputs[0]:
        labels = deployed.labels or tuple(range(2))
        if len(labels) == 2 and labels[1] is not None:
            return {"of": "label", "relation": "=", "threshold": labels[1]}
    if deployed.readout is not Readout.SCORE or deployed.relation is None or deployed.threshold is None:
        raise Unproved("only one score with a threshold, and one of two labels (`when class = ...`), have proofs")
    sigmoid = any(node.op == "Sigmoid" for node in graph.nodes)
    if sigmoid and deployed.threshold != Fraction(1, 2):
        raise Unproved("probabilities that are compared with another number than 1/2 have no proofs so far")
    return {
        "of": "probability" if sigmoid else "score",
        "relation": deployed.relation.value,
        "threshold": number_of(deployed.threshold),
    }


def reads_of(deployed: Deployed, attributes: Sequence[Attribute]) -> list[dict[str, Any]]:
    """What fills each column of its input; raises Unproved."""
    if len(deployed.feeds) != 1 or deployed.feeds[0].texts or any(m is not None for m in deployed.feeds[0].missing):
        raise Unproved("models with several inputs, or inputs of text, have no proofs so far")
    return [column_of(deployed.features[feature], attributes) for feature in deployed.feeds[0].features]


def column_of(form: Form, attributes: Sequence[Attribute]) -> dict[str, Any]:
    """One column; raises Unproved."""
    factors: dict[int, Fraction] = {}
    tables: dict[int, list[Fraction]] = {}
    for item, factor in form.terms:
        if isinstance(item, AttributeInput):
            factors[item.attribute] = factors.get(item.attribute, Fraction(0)) + factor
            continue
        places = {variable.attribute for variable in variables(item.predicate)}
        if len(places) != 1:
            raise Unproved("models that read conditions on several attributes have no proofs so far")
        (place,) = places
        values = _values(attributes[place])
        table = tables.setdefault(place, [Fraction(0)] * len(values))
        for position, value in enumerate(values):
            if holds(item.predicate, lambda _, value=value: value):  # type: ignore[misc]
                table[position] += factor
    terms: list[list[Any]] = []
    for place in sorted({*factors, *tables}):
        listed = isinstance(attributes[place].type, Category | Boolean)
        if not listed and place not in tables:
            terms.append([attributes[place].name, number_of(factors[place])])
            continue
        values, by = _values(attributes[place]), factors.get(place, Fraction(0))
        table = tables.get(place, [Fraction(0)] * len(values))
        terms.append(
            [
                attributes[place].name,
                [number_of(entry + by * value) for entry, value in zip(table, values, strict=True)],
            ]
        )
    return {"constant": number_of(form.constant), "terms": terms}


def _values(attribute: Attribute) -> list[Fraction]:
    match attribute.type:
        case Category(values=values):
            return sorted(Fraction(value.code) for value in values)
        case Boolean():
            return [Fraction(0), Fraction(1)]
        case Integer(low=low, high=high) if high - low < _LISTED:
            return [Fraction(value) for value in range(low, high + 1)]
    raise Unproved(f"conditions on `{attribute.name}` that the model reads have no proofs so far")


def condition_of(predicate: Predicate, attributes: Sequence[Attribute], *, both: bool = False) -> list[Any]:
    """A condition on one individual, or (``both``) on a pair, whose attributes are ``a.NAME`` and ``b.NAME``."""

    def of(part: Predicate) -> list[Any]:
        return condition_of(part, attributes, both=both)

    def name(variable: Variable) -> str:
        found = attributes[variable.attribute].name
        return f"{'b' if variable.who is Who.B else 'a'}.{found}" if both else found

    match predicate:
        case And(parts):
            return ["and", *map(of, parts)]
        case Or(parts):
            return ["or", *map(of, parts)]
        case Not(And(parts)):
            return ["or", *(of(Not(part)) for part in parts)]
        case Not(Or(parts)):
            return ["and", *(of(Not(part)) for part in parts)]
        case Not(Not(part)):
            return of(part)
        case Not(Compare() as part):
            return of(opposite(part))
        case Not(Member(variable=variable, values=values)):
            found = [([[name(variable), 1]], -value) for value in sorted(values)]
            return ["and", *(_related(terms, "!=", constant) for terms, constant in found)]
        case Compare(left=left, relation=relation):
            terms = [[name(variable), factor] for variable, factor in left.terms]
            return _related(terms, relation.value, left.constant)
        case Member(variable=variable, values=values):
            return ["in", name(variable), [number_of(value) for value in sorted(values)]]
    raise Unproved("there is a condition of a kind that the format does not know")


def _related(terms: list[list[Any]], relation: str, constant: Fraction) -> list[Any]:
    """A sum and 0, by ``<`` and ``<=`` alone."""
    if relation in ("=", "!="):
        op, below, above = ("and", "<=", ">=") if relation == "=" else ("or", "<", ">")
        return [op, _related(terms, below, constant), _related(terms, above, constant)]
    turned = relation.startswith(">")
    listed = [[name, number_of(-factor if turned else factor)] for name, factor in terms]
    return [relation.replace(">", "<"), listed, number_of(-constant if turned else constant)]
