"""Sensitivity: which known discriminators a spec detects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import fspath
from typing import TYPE_CHECKING, Any

from fairdsl.api.paths import AnyPath, Names, Numbers, by_name, functions, names_of, numbers
from fairdsl.options import Given, Run, options_of
from fairdsl.options.kinds import Share

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.audit_sensitivity import Kind, Sensitivity
    from fairdsl.backends.contract import Observer


def sensitivity(
    spec: AnyPath,
    *,
    strengths: Sequence[float | Fraction | str] = (),
    kinds: Kind | str | Sequence[Kind | str] = (),
    groups: Sequence[Mapping[str, Any]] = (),
    properties: Names | None = None,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    data: Mapping[str, AnyPath] | None = None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
    timeout: float | None = None,
    effort: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    memory: int = 2 << 30,
    options: Given | None = None,
    observer: Observer | None = None,
) -> Sensitivity:
    """Plant known discriminators into the spec's models and ask its properties about each (docs/sensitivity.md).

    Args:
        spec: path of the ``.fair`` file.
        strengths: how much to plant, of all people or of the group; 1 %, 5 % and 20 % by default.
        kinds: ``people`` (decided by their group alone), ``group`` (refused by what is protected) and ``proxy``
            (refused by what stands for it); all by default.
        groups: against whom, each as values of protected attributes by their names; by default one group of each
            protected attribute.
        properties: names of the properties to ask; all by default.
        models: files that replace those of the spec, by model name.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        data: files that replace those of distributions, by name.
        callables: Python functions that decide, by model name; see docs/python.md.
        timeout: time limit in seconds for each audit; by default 60, or none where effort is given.
        effort: limit on work instead of time for each audit (docs/runs.md).
        seed: of where discriminators lie, and of every audit.
        jobs: number of processes; all cores by default.
        memory: total memory limit for interval refinement and subset sums, in bytes.
        options: what is set for single backends, by section and name.
        observer: hears of progress.

    Returns:
        Each discriminator, what it changes, and which properties detect it.

    Raises:
        SpecError: the spec or its files have mistakes, or nothing can be planted or detected.
        ValueError: a strength that is not a share, a kind that there is not, a value that no individual has.
    """
    from fairdsl.audit_sensitivity import Kind, Plan, sensitivity_spec
    from fairdsl.backends.contract import Silent
    from fairdsl.plan.registry import sections

    share, plan = Share(above=True), Plan()
    several = (kinds,) if isinstance(kinds, Kind | str) else kinds
    return sensitivity_spec(
        fspath(spec),
        Plan(
            strengths=tuple(share.read(each) for each in strengths) or plan.strengths,
            kinds=tuple(Kind(each) for each in several) or plan.kinds,
            groups=tuple(groups),
        ),
        models=by_name(models),
        let=numbers(let),
        data=by_name(data),
        callables=functions(callables, models),
        options=options_of(
            Run(timeout=timeout, effort=effort, seed=seed, jobs=jobs, memory=memory), options, sections()
        ),
        properties=names_of(properties),
        observer=observer or Silent(),
    )
