"""Interval jobs as files: a task, and what its answer will mean, in the spec's words.

A job needs neither the spec nor the model to be solved, and its results need nothing but the job to become a
verdict again. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.container import Container, Kind, pack, unpack
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.solved import Asked
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Quantity, Threshold

__all__ = ["JOB", "Job", "SharedAttribute", "pack_job", "read_job"]

JOB = Kind(words="interval job", schema="fairdsl.interval-job/1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttribute:
    """What the positions of a task's attribute mean: ``values`` by position, or ``start + position * step``.

    ``cells``: a position is everything from there to the next one.
    """

    name: str
    size: int
    values: tuple[str, ...] | None = None
    start: Fraction | None = None
    step: Fraction | None = None
    cells: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task, the demand that it answers, and what its units are. ``sha256`` names it.

    One unit of the task stands for ``factor`` units of the demand; ``vacuous`` of the task's units have
    nobody to be compared with, and of the ``unsure`` ones among the others that is not known.
    """

    task: Task
    asked: Asked
    quantity: Quantity
    measure: str
    unit: str
    factor: int
    vacuous: int
    unsure: int
    sha256: str


def pack_job(
    task: Task,
    asked: Asked,
    *,
    quantity: Quantity,
    measure: str,
    unit: str,
    factor: int,
    vacuous: int,
    unsure: int,
    attributes: Sequence[SharedAttribute],
) -> bytes:
    """The job's file; the same job gives the same bytes."""
    plain, arrays = _taken_apart(task)
    header = {
        "question": _question(asked, quantity),
        "measure": measure,
        "unit": unit,
        "factor": factor,
        "vacuous": vacuous,
        "unsure": unsure,
        "attributes": [_attribute(attribute) for attribute in attributes],
        "task": plain,
    }
    return pack(JOB, header, arrays)


def read_job(path: Path) -> Job:
    """A job from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    content = unpack(JOB, path)
    try:
        question = content.header["question"]
        return Job(
            task=_put_together(content),
            asked=_asked(question),
            quantity=Quantity(question["quantity"]),
            measure=str(content.header["measure"]),
            unit=str(content.header["unit"]),
            factor=int(content.header["factor"]),
            vacuous=int(content.header["vacuous"]),
            unsure=int(content.header["unsure"]),
            sha256=content.sha256,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DiagnosticError(errors.damaged(str(path), "a part of it is missing")) from error


def _question(asked: Asked, quantity: Quantity) -> dict[str, Any]:
    threshold = asked.threshold
    written = asdict(asked) | {"quantity": quantity.value, "clauses": list(asked.clauses)}
    if threshold is not None:
        written["threshold"] = {
            "relation": threshold.relation.value,
            "limit": str(threshold.limit),
            "text": threshold.text,
        }
    return written


def _asked(question: Mapping[str, Any]) -> Asked:
    words = {name: question[name] for name in (field.name for field in fields(Asked))}
    limit = words["threshold"]
    if limit is not None:
        words["threshold"] = Threshold(
            relation=Relation(limit["relation"]), limit=Fraction(limit["limit"]), text=limit["text"]
        )
    return Asked(**words | {"clauses": tuple(words["clauses"])})


def _attribute(attribute: SharedAttribute) -> dict[str, Any]:
    written: dict[str, Any] = {"name": attribute.name, "positions": attribute.size}
    if attribute.values is not None:
        written["values"] = list(attribute.values)
    elif attribute.start is not None:
        written |= {"start": str(attribute.start), "step": str(attribute.step), "cells": attribute.cells}
    return written


def _taken_apart(task: Task) -> tuple[dict[str, Any], dict[str, NDArray[np.generic]]]:
    """Plain values for the header (a tuple of arrays is its length there), and named arrays."""
    plain: dict[str, Any] = {}
    arrays: dict[str, NDArray[np.generic]] = {}
    for field in fields(Task):
        value = getattr(task, field.name)
        match value:
            case np.ndarray():
                plain[field.name], arrays[field.name] = "array", value
            case tuple():
                plain[field.name] = {"arrays": len(value)}
                arrays |= {f"{field.name}/{number}": array for number, array in enumerate(value)}
            case bool() | int() | None:
                plain[field.name] = value
            case _:
                raise TypeError(f"`{field.name}` of a task cannot be written")
    return plain, arrays


def _put_together(content: Container) -> Task:
    """The task again; KeyError where a part is missing."""
    values: dict[str, Any] = {}
    for name, value in dict(content.header["task"]).items():
        match value:
            case "array":
                values[name] = content.arrays[name]
            case {"arrays": count}:
                values[name] = tuple(map(partial(_numbered, content, name), range(count)))
            case _:
                values[name] = value
    return Task(**values)


def _numbered(content: Container, name: str, number: int) -> NDArray[np.generic]:
    return content.arrays[f"{name}/{number}"]
