"""Python functions in place of models: of those declared by ``from callable``, and of files that are not pinned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fairdsl.diagnostics import Reporter
from fairdsl.elaborate import errors
from fairdsl.ir.declaration import ByAnswer, ByRules, CallableSource, FileSource, ModelDeclaration
from fairdsl.semantics.checked import CheckedSpec

#: What it is called with and what it answers: see :mod:`fairdsl.models.black_boxes.function`.
Function = Callable[[Any], Any]


def with_functions(
    spec: CheckedSpec, functions: Mapping[str, Function], reporter: Reporter
) -> Mapping[str, ModelDeclaration]:
    """The declarations of the models that are functions, by name; what no function can replace is reported."""
    found: dict[str, ModelDeclaration] = {}
    for name in functions:
        if name not in spec.models:
            if any(model.declared_as == name for model in spec.models.values()):
                continue
            reporter.report(errors.override_of_nothing(name, tuple(spec.models), function=True))
            continue
        declaration = spec.models[name].declaration
        source = declaration.source
        if isinstance(source, CallableSource):
            found[name] = declaration
        elif isinstance(source, FileSource) and source.sha256 is None:
            clause = declaration.decision
            decision = ByAnswer(span=clause.span) if isinstance(clause, ByRules) else clause
            found[name] = replace(declaration, source=CallableSource(span=source.span), decision=decision)
        else:
            reporter.report(errors.override_of_nothing(name, tuple(spec.models), source.span, function=True))
    return found
