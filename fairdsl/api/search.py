"""Searching: many violating pairs of one property."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import fspath
from typing import TYPE_CHECKING, Any

from fairdsl.api.given import given
from fairdsl.api.paths import AnyPath, Names, Number, Numbers, by_name, functions, names_of, numbers, path_of
from fairdsl.options import Options, Run
from fairdsl.options.commands import Search

if TYPE_CHECKING:
    from fairdsl.backends.contract import Observer
    from fairdsl.counterexamples import Found
    from fairdsl.counterexamples.written import ReplayedPair


def search(
    spec: AnyPath,
    *,
    property: str | None = None,  # noqa: A002 - the word of the language
    models: Mapping[str, Any] | None = None,
    let: Numbers | None = None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
    count: int | None = Search.count,
    timeout: float | None = Search.timeout,
    effort: int | None = Search.effort,
    seed: int = Search.seed,
    strategy: str | None = Search.strategy,
    near: AnyPath | None = None,
    data: Mapping[str, Any] | None = None,
    representatives: int | None = Search.representatives,
    severity: bool = Search.severity,
    rank: str | None = None,
    step: int = Search.step,
    init_prob: Number = Search.init_prob,
    delta_v: Number = Search.delta_v,
    delta_pr: Number = Search.delta_pr,
    draws: int = Search.draws,
    steps: int = Search.steps,
    output: AnyPath | None = None,
    observer: Observer | None = None,
) -> Found:
    """Find pairs that violate a property about pairs, each counted once and each replayed.

    Finding few or none proves nothing; :func:`check` does.

    Args:
        spec: path of the ``.fair`` file.
        property: name of the property; not needed where the spec has one about pairs.
        models: files or models in memory that replace those of the spec, by model name, as :func:`check` takes them.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        callables: Python functions that decide, by model name; see docs/python.md.
        count: how many to find; None goes on until nothing new is found.
        timeout: seconds to search at most; None is 60, or no limit where there is ``effort``. A search that ends by its
            time is not the same twice.
        effort: units of work to search at most, which find the same on every machine (docs/runs.md).
        seed: of every random choice; the same seed gives the same pairs.
        strategy: how to search (see docs/search.md); None is ``portfolio``, or ``outward`` near rows.
        near: a CSV file, or the name of a distribution of the spec that is made from rows. The search begins with its
            rows and goes outward from them; each pair gets its distance from the nearest row.
        data: files that replace those of distributions, by name.
        representatives: how many pairs to choose that stand for the others, each with its part of the domain.
        severity: give each pair its score gap and its bits; the pairs that are ``shown`` have them anyway.
        rank: order the pairs by ``bits``, ``gap`` or ``distance``; near rows the default is ``distance``. It is those
            found that are ordered: the most severe ones of all are not looked for.
        step: how many units up or down ``random``, ``semi-directed`` and ``fully-directed`` go in one attribute.
        init_prob: the probability of a step down, in each attribute, from which the latter two learn.
        delta_v: by how much a step changes the probability of its direction.
        delta_pr: by how much a step of ``fully-directed`` changes the probability of its attribute.
        draws: how many individuals each global phase of these strategies draws.
        steps: how many steps they walk from each individual found in it.
        output: a ``.csv`` or ``.parquet`` file to write the pairs to; one that exists is replaced.
        observer: hears of progress.

    Returns:
        The pairs, and how they were found.

    Raises:
        SpecError: the spec or its files have mistakes, no one property about pairs is named, there is no such
            strategy, the file cannot be written, there are no rows to be near to, or a question with ``relax`` is
            asked for representatives; or an option has a value that is not one.
        ValueError: a rank by distance without rows.
    """
    from fairdsl.backends.contract import Silent
    from fairdsl.counterexamples import Request, search_spec

    values = {
        "count": Search.count if count is None else count,
        "timeout": timeout,
        "effort": effort,
        "seed": seed,
        "strategy": strategy,
        "near": None if near is None else fspath(near),
        "representatives": representatives or None,
        "severity": severity,
        "rank": rank,
        "step": step,
        "init_prob": init_prob,
        "delta_v": delta_v,
        "delta_pr": delta_pr,
        "draws": draws,
        "steps": steps,
    }
    own = Search.naming({name: value for name, value in values.items() if value != getattr(Search, name)})
    request = Request(
        about=property,
        count=None if count is None else own.count,
        options=Options(Run(timeout=own.timeout, effort=own.effort, seed=own.seed), (own,)),
        strategy=own.strategy,
        near=own.near,
        representatives=own.representatives or 0,
        severity=own.severity,
        rank=None if own.rank is None else own.rank.value,
        output=None if output is None else fspath(output),
    )
    what = given(path_of(spec, "the spec"), models, data, callables)
    with what.held():
        return search_spec(
            what.spec,
            request,
            models=what.models,
            let=numbers(let),
            data=what.data,
            callables=what.callables,
            observer=observer or Silent(),
        )


def replay_pair(
    spec: AnyPath,
    *,
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    c: Mapping[str, Any] | None = None,
    d: Mapping[str, Any] | None = None,
    properties: Names | None = None,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
) -> ReplayedPair:
    """What one pair, that somebody wrote down, means for each demand about pairs, or about one individual.

    Args:
        spec: path of the ``.fair`` file.
        a: the values of the one by the attributes' names, as the spec writes them.
        b: those of the other; what is not named is as in ``a``.
        c: those of a third one, of demands about three, in the same way.
        d: those of a fourth one.
        properties: names of the properties; all by default.
        models: files that replace those of the spec, by model name.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        callables: Python functions that decide, by model name.

    Returns:
        For each demand whether it is about this pair at all, and what the original model makes of it.

    Raises:
        SpecError: the spec or its files have mistakes.
        ValueError: values that no individual of the domain has, or no property is about individuals.
    """
    from fairdsl.counterexamples.written import replay_written

    return replay_written(
        path_of(spec, "the spec"),
        a,
        b,
        properties=names_of(properties),
        models=by_name(models),
        let=numbers(let),
        callables=functions(callables, models),
        others=[each for each in (c, d) if each is not None],
    )
