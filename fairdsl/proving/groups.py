"""Metrics of groups as the closed question of a proof: the model, the groups, and what is made of their rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Any

from fairdsl.ir.declaration import FileSource
from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import And, Predicate, opposite, variables
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput
from fairdsl.ir.metric import Fold
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import label_column
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.metrics.rate_cells import conditions_of
from fairdsl.models.linear_json import read_linear
from fairdsl.proving.distributions import DistributionOf
from fairdsl.proving.paths import counted_under
from fairdsl.proving.question import (
    Unproved,
    column_of,
    condition_of,
    decides_of,
    number_of,
    reads_of,
)
from fairdsl.source.reading import content_of
from fairdsl_verify.groups import FORMAT
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.rates import linear_of


def file_of(problem: Problem) -> str | None:
    """The model's file that a checker reads; None where the model stands in the question."""
    model = problem.model
    if model.deployed is not None:
        return model.deployed.path
    source = None if model.declaration is None else model.declaration.source
    return source.path if isinstance(source, FileSource) else None


def rates_question_of(problem: Problem) -> dict[str, Any]:
    """The question in real arithmetic, without claims. Raises Unproved."""
    question, population = problem.question, problem.population
    if not isinstance(question, GroupMetric) or problem.quantity is not Quantity.METRIC or population is None:
        raise Unproved("only metrics of groups under a distribution, or over rows, are asked about rates")
    metric = question.metric
    if metric.rate.is_mean:
        raise Unproved("means of scores have no proofs so far")
    if question.confidence is not None:
        raise Unproved("intervals for the sampling error of rows have no proofs so far")
    counted = counted_under(problem, question, population)
    read = {*_read(problem), *(variable.attribute for variable in variables(question.given)), *counted.copies.values()}
    law = DistributionOf(question, population, counted.population, read)
    # What the model reads in place of a column stands there by its name.
    named = [counted.population.columns[counted.copies.get(at, at)] for at in range(len(population.columns))]
    label = label_column(population) if metric.rate.reads_label else None
    reads = conditions_of(question, population)
    return {
        "format": FORMAT,
        "property": problem.name,
        **_model(problem, population.columns, named),
        "attributes": law.attributes,
        "where": condition_of(problem.domain.where, population.columns),
        "given": condition_of(question.given, population.columns),
        "law": law.law,
        "across": [law.attributes[column]["name"] for column in question.across],
        "each": [law.attributes[column]["name"] for column in question.given_each],
        "label": None if label is None else law.attributes[label]["name"],
        "rates": [{"hits": law.counted(each.hits), "misses": law.counted(each.misses)} for each in reads],
        "compares": metric.comparison.name.lower(),
        "folds": metric.folded.value if len(reads) > 1 else Fold.SINGLE.value,
        "privileged": law.privileged(),
        "excluding": law.left_out(),
        "influence": law.drawn(),
        "requires": _required(problem),
        "arithmetic": "real",
        "rests": [*law.rests(), *_rests(problem.model), *counted.rests],
    }


def _required(problem: Problem) -> list[Any] | None:
    threshold = problem.threshold
    if threshold is None:
        return None
    if threshold.relation.value not in ("<", "<=", ">", ">="):
        raise Unproved("what is required is not a bound")
    return [threshold.relation.value, number_of(threshold.limit)]


def _rests(model: Model) -> Iterator[str]:
    if model.deployed is None and file_of_rules(model) is not None:
        yield f"the rules of a file of sha256 {model.sha256}, which are written here"


def file_of_rules(model: Model) -> str | None:
    """The digest of the file that a list of rules was read from."""
    return None if model.declaration is not None else model.sha256


def _read(problem: Problem) -> set[int]:
    """The columns that the model or the domain's condition looks at."""
    found = {variable.attribute for variable in variables(problem.domain.where)}
    for item in problem.model.listed:
        if isinstance(item, AttributeInput):
            found.add(item.attribute)
        else:
            found |= {variable.attribute for variable in variables(item.predicate)}
    if problem.model.ensemble is not None:
        for test in problem.model.ensemble.different:
            found |= {variable.attribute for variable in variables(test)}
    return found


def _model(problem: Problem, columns: Sequence[Attribute], named: Sequence[Attribute]) -> dict[str, Any]:
    """The model: a file's, or written here; it reads columns by the names of ``named``."""
    model, path = problem.model, file_of(problem)
    if not isinstance(model.rule, ByThreshold) or model.opaque is not None or model.favourable is None:
        raise Unproved("only models with one score and a threshold, two labels or rules have proofs")
    favoured = {model.favourable, *model.beside}
    if (model.rule.granted in favoured) is (model.rule.otherwise in favoured):
        raise Unproved("everybody is favoured, whatever is decided")
    favourable = model.rule.granted in favoured
    nothing = {"of": "score", "relation": ">", "threshold": 0}
    if model.deployed is not None:
        graph = Graph(content_of(model.deployed.path))
        decides = decides_of(model.deployed, graph)
        declared = None if model.declaration is None else model.declaration.outcomes
        if decides["of"] == "label":
            if declared != model.outcomes:
                raise Unproved("a label is not the score that is asked about")
            favourable = 1 in favoured
        reads = reads_of(model.deployed, named)
        file = {"kind": "onnx", "model": model.deployed.sha256, "reads": reads}
        return {**file, "decides": decides, "rules": None, "favourable": favourable}
    if len(model.layers) != 1 or model.ensemble is not None:
        raise Unproved("models with hidden units have no proofs of their rates")
    rules = None if path is not None else _rules(model, named)
    found: dict[str, Any] = {
        "kind": "written",
        "model": "",
        "reads": [],
        "decides": nothing,
        "rules": rules,
        "favourable": favourable,
    }
    if rules is not None:
        return found
    if model.rule.low != model.rule.high:
        raise Unproved("probabilities that are compared with another number than 1/2 have no proofs so far")
    decides = {"of": "score", "relation": model.rule.relation.value, "threshold": number_of(model.rule.low)}
    form = _form(model)
    if path is None:
        return {**found, "reads": [column_of(form, named)], "decides": decides}
    content = content_of(path)
    forms, score = _linear(model, path, content, columns)
    if dict(score.terms) != dict(form.terms) or score.constant != form.constant:
        raise Unproved("the linear model's file is not read as its checker reads it")
    reads = [column_of(each, named) for each in forms]
    return {**found, "kind": "linear", "model": sha256(content).hexdigest(), "reads": reads, "decides": decides}


def _form(model: Model) -> Form:
    """The score of a model of one layer."""
    (layer,) = model.layers
    form = Form(constant=layer.bias.exact[0])
    for item, weight in zip(model.listed, layer.weight.exact[0], strict=True):
        form += Form.of(item).scaled(weight)
    return form


def _linear(model: Model, path: str, content: bytes, columns: Sequence[Attribute]) -> tuple[list[Form], Form]:
    """What fills each coefficient's feature, and the score that follows, by the checker's own reading of the file."""
    names = read_linear(path, None).feature_names
    declared = None if model.declaration is None else model.declaration.reads
    if declared is not None:
        forms = list(declared)
    elif names is not None:
        at = {name: place for place, each in enumerate(columns) for name in (each.name, each.column) if name}
        forms = [Form.of(AttributeInput(at[name])) for name in names if name in at]
    else:
        forms = [Form.of(AttributeInput(place)) for place in range(len(columns))]
    ((layer,),) = linear_of(content).nodes
    (weights,), (bias,) = layer.weight, layer.bias
    score = Form(constant=bias)
    for form, weight in zip(forms, weights, strict=False):
        score += form.scaled(weight)
    return forms[: len(weights)], score


def _rules(model: Model, columns: Sequence[Attribute]) -> list[list[Any]] | None:
    """The rules whose leaves the model's indicators are, in order; None of another model."""
    assert isinstance(model.rule, ByThreshold), "who asks knows that"
    (layer,) = model.layers
    weights, bias = layer.weight.exact[0], layer.bias.exact[0]
    if not model.listed or not all(isinstance(item, IndicatorInput) for item in model.listed):
        return None
    leaves = [item.predicate for item in model.listed if isinstance(item, IndicatorInput)]

    def decides(score: Fraction) -> bool:
        assert isinstance(model.rule, ByThreshold), "who asks knows that"
        return model.rule.relation.compares(score, model.rule.low)

    if model.rule.low != model.rule.high:
        return None
    if not model.groups:
        if len(leaves) > 1:
            return None
        return [[condition_of(leaves[0], columns), decides(weights[0] + bias)], [["and"], decides(bias)]]
    passed: tuple[Predicate, ...] = ()
    rules = []
    for leaf, weight in zip(leaves, weights, strict=True):
        last = leaf == And(passed)
        if not isinstance(leaf, And) or not (last or leaf.parts[:-1] == passed):
            return None
        rules.append([["and"] if last else condition_of(leaf.parts[-1], columns), decides(weight + bias)])
        if last:
            return rules
        passed = (*passed, opposite(leaf.parts[-1]))
    return None
