"""A planted model decides as the model does, but for those whom the discriminator means: for everybody, exactly."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.audit_sensitivity.planted import NotPlantedError, Override, planted
from fairdsl.ir.expr import Not, Predicate, Who, conjoin
from fairdsl.ir.model import Model, read_attributes
from fairdsl.models.evaluators import evaluator_of
from tests import oracle
from tests.builders import domain as domain_of
from tests.builders import integer, linear, member, real, score
from tests.kernel_strategies import kernel_models
from tests.rule_strategies import rule_models
from tests.strategies import domains, models, predicates
from tests.tree_strategies import tree_models


@st.composite
def cases(draw: st.DrawFn) -> tuple[Model, object, list[Override]]:
    people = draw(domains())
    kind = draw(st.sampled_from(["plain", "curved", "trees", "rules", "kernel"]))
    match kind:
        case "trees":
            model = draw(tree_models(people, False))
        case "rules":
            model = draw(rule_models(people))
        case "kernel":
            model = draw(kernel_models(people))
        case _:
            model = draw(models(people, False, (0, 2, 3), curved=kind == "curved"))
    first, second = (draw(predicates(people.attributes)) for _ in range(2))
    outcomes = st.integers(0, len(model.outcomes) - 1)
    overrides = [Override(first, draw(outcomes)), Override(conjoin(second, Not(first)), draw(outcomes))]
    return model, people, overrides[: draw(st.integers(1, 2))]


def meant(predicate: Predicate, point: tuple[object, ...]) -> bool:
    return bool(oracle.true_for(predicate, {Who.EACH: point}))


@settings(max_examples=20)
@given(cases())
def test_everybody_else_is_decided_as_before(case: tuple[Model, object, list[Override]]) -> None:
    model, people, overrides = case
    everybody = list(product(*(oracle.values_of(each.type) for each in people.attributes)))
    new = planted(model, overrides, people)
    if new.opaque is None:
        found = [oracle.outcome(new, point) for point in everybody]
    found = evaluator_of(new).settled(np.array(everybody, dtype=np.float64)).decisions.tolist() if new.opaque else found
    for point, outcome in zip(everybody, found, strict=True):
        said = [each.outcome for each in overrides if meant(each.who, point)]
        assert outcome == (said[0] if said else oracle.outcome(model, point))


def test_a_model_with_layers_stays_one_that_engines_read() -> None:
    people = domain_of(age=integer(0, 9), sex=integer(0, 1), debt=integer(0, 9))
    model = score([1, 0, -2])
    against = Override(conjoin(member(1, 1), linear({0: 1}, "<=", 4)), 0)
    new = planted(model, [against], people)
    assert new.opaque is None
    assert (new.name, new.outcomes, new.favourable) == (model.name, model.outcomes, model.favourable)
    assert read_attributes(new) == {0, 1, 2}
    # A file that decides so there is none.
    assert new.deployed is new.sha256 is new.declaration is None


def test_no_number_outweighs_a_score_without_a_bound() -> None:
    people = domain_of(wealth=real(0), sex=integer(0, 1))
    with pytest.raises(NotPlantedError, match="its score has no bound"):
        planted(score([1, 0]), [Override(member(1, 1), 0)], people)
    # One that is not read does not matter.
    bounded = planted(score([0, 1]), [Override(member(1, 1), 0)], people)
    assert replace(bounded, inputs=()).layers != score([0, 1]).layers
