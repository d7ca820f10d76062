"""Estimators of the user's: where they come from, how they learn, and what they predict.

An estimator is any object with ``fit(features, classes)`` and ``predict(features)``, as scikit-learn has them. What
goes wrong inside of it is the user's to know, so its exceptions become findings with their own words.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isclass, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.repairing import errors
from fairdsl.repairing.subject import Rows, Trainee

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Factory:
    """Makes new estimators; ``export`` writes a fitted one to a path, None where skl2onnx or its library is to do it.

    ``framed`` makes a table of a matrix and the names of its columns, where estimators are to be given such a table.
    """

    name: str
    make: Callable[[], Any]
    export: Callable[[Any, str], Any] | None
    framed: Callable[[NDArray[np.float32], Sequence[str]], Any] | None = None

    def given(self, subject: Trainee, values: ExactRows) -> Any:
        """What its estimators are given of individuals, to learn from and to decide about."""
        features = subject.features(values)
        return features if self.framed is None else self.framed(features, subject.feature_names)


def factory_of(wanted: str | Callable[[], Any]) -> Factory:
    """The factory that ``MODULE:FUNCTION`` names, or the function itself; a module may also be ``FILE.py``.

    A function ``export`` beside it writes the files. Raises DiagnosticError (E0590).
    """
    if not isinstance(wanted, str):
        name = getattr(wanted, "__name__", type(wanted).__name__)
        module = sys.modules.get(getattr(wanted, "__module__", None) or "")
        return Factory(name, wanted, _export(module))
    place, colon, function = wanted.rpartition(":")
    if not (colon and place and function):
        raise DiagnosticError(errors.estimator_not_usable(wanted, "it names no module and no function in it"))
    with _reported(wanted, f"`{place}` cannot be imported"):
        module = _module(place)
    make = getattr(module, function, None)
    if not callable(make):
        raise DiagnosticError(_no_function(wanted, module, place, function))
    return Factory(wanted, make, _export(module))


def _no_function(wanted: str, module: ModuleType, place: str, function: str) -> Diagnostic:
    """There is no such function: what is there, of the module's own functions and not of those that it imports."""
    found = getattr(module, function, None)
    if callable(getattr(found, "fit", None)):
        reason = f"`{function}` in `{place}` is one estimator, and a new one is needed for every model that is tried"
        remedy = f"write a function that returns a new one, `def make(): return {type(found).__name__}(...)`"
        return errors.estimator_not_usable(wanted, reason, remedy)
    reason = f"`{place}` has no function `{function}`"
    known = [
        name
        for name, value in vars(module).items()
        if (isfunction(value) or isclass(value))
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and name != "export"
    ]
    listed = ", ".join(f"`{name}`" for name in known[:8])
    return errors.estimator_not_usable(wanted, reason, f"write one of its functions: {listed}" if known else None)


def fitted(
    factory: Factory, subject: Trainee, rows: Rows, seed: int, weights: NDArray[np.float64] | None = None
) -> Any:
    """A new estimator that has learnt the rows; one whose ``random_state`` is open gets the seed.

    ``weights`` [rows] say how much each row counts. An estimator that takes none learns as many rows, drawn by them.
    """
    with _reported(factory.name, "the function raised an exception"):
        estimator = factory.make()
    missing = [name for name in ("fit", "predict") if not callable(getattr(estimator, name, None))]
    if missing:
        reason = f"what it returns, of type `{type(estimator).__name__}`, has no `{missing[0]}`"
        raise DiagnosticError(errors.estimator_not_usable(factory.name, reason))
    with _reported(factory.name, f"`fit` on {len(rows):,} rows raised an exception"):
        _seed(estimator, seed)
        weighed = {} if weights is None or (name := _weights_of(estimator)) is None else {name: weights}
        if weights is not None and not weighed:
            drawn = np.random.default_rng(seed).choice(len(rows), len(rows), p=weights / weights.sum())
            rows = rows.at(drawn)
        learnt = estimator.fit(factory.given(subject, rows.values), subject.learned(rows.outcomes), **weighed)
    # Some return themselves, as scikit-learn's do, and some nothing.
    return estimator if learnt is None else learnt


def _weights_of(estimator: Any) -> str | None:
    """What `fit` calls the weights of rows, of a pipeline those of its last step; None where it takes none."""
    steps = getattr(estimator, "steps", None)
    prefix, last = (f"{steps[-1][0]}__", steps[-1][1]) if steps else ("", estimator)
    return f"{prefix}sample_weight" if "sample_weight" in signature(last.fit).parameters else None


def predicted(factory: Factory, estimator: Any, subject: Trainee, values: ExactRows) -> Integers:
    """The outcomes that it predicts; raises DiagnosticError (E0590) where they are none."""
    with _reported(factory.name, "`predict` raised an exception"):
        found = np.asarray(estimator.predict(factory.given(subject, values)))
    outcomes = np.full(len(values), -1, dtype=np.int64)
    if found.shape == outcomes.shape:
        for outcome, learned in enumerate(subject.classes):
            outcomes[found == learned] = outcome
    if (outcomes < 0).any():
        reason = "`predict` gives something else than one of the classes that it learnt for each row"
        raise DiagnosticError(errors.estimator_not_usable(factory.name, reason, "use a classifier"))
    return outcomes


def _seed(estimator: Any, seed: int) -> None:
    """An estimator that draws at random is given the seed, unless it has one of its own."""
    parameters = estimator.get_params(deep=True) if callable(getattr(estimator, "get_params", None)) else {}
    open_ones = {
        name: seed for name, value in parameters.items() if name.split("__")[-1] == "random_state" and value is None
    }
    if open_ones:
        estimator.set_params(**open_ones)


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        folder = str(Path.cwd())
        if folder not in sys.path:  # as for `python -m`
            sys.path.insert(0, folder)
        return import_module(place)
    # A name of its own, and entered: data classes and processes look their modules up.
    specification = spec_from_file_location(f"fairdsl_estimator_{Path(place).stem}", place)
    if specification is None or specification.loader is None:
        raise ImportError(f"`{place}` is not a Python file")
    module = module_from_spec(specification)
    sys.modules[module.__name__] = module
    specification.loader.exec_module(module)
    return module


def _export(module: ModuleType | None) -> Callable[[Any, str], Any] | None:
    found = getattr(module, "export", None)
    return found if callable(found) else None


@contextmanager
def _reported(name: str, what: str) -> Iterator[None]:
    """Exceptions of the user's code as findings."""
    try:
        yield
    except DiagnosticError:
        raise
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}".splitlines()[0][:160]
        remedy = None
        if isinstance(problem, ModuleNotFoundError) and (problem.name or "").split(".")[0] == "sklearn":
            remedy = "install scikit-learn with `pip install 'fairdsl[sklearn]'`"
        raise DiagnosticError(errors.estimator_not_usable(name, f"{what}: {said}", remedy)) from problem
