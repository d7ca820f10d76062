"""Interval jobs as files: a task, and what its answer will mean, in the spec's words.

A job needs neither the spec nor the model to be solved, and its results need nothing but the job to become a
verdict again. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.container import Arrays, Kind, pack, unpack
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.intervals.task_check import check_task
from fairdsl.backends.solved import Asked
from fairdsl.codec import Document, Exact, plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.question import Quantity

__all__ = ["JOB", "Job", "JobHead", "SharedAttribute", "pack_job", "read_job"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttribute:
    """What the positions of a task's attribute mean: ``values`` by position, or ``start + position * step``."""

    #: Its name in the spec.
    name: str
    #: How many positions it has.
    positions: int
    #: What each position represents, in words.
    values: tuple[str, ...] | None = None
    #: What the first position represents.
    start: Exact | None = None
    #: How far the next one is.
    step: Exact | None = None
    #: Whether a position is everything from there to the next one.
    cells: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHead(Document):
    """The header of an interval job: the demand that its task answers. The arrays beside it are the task's."""

    SCHEMA: ClassVar[str] = "fairdsl.interval-job/2"
    STAMPED: ClassVar[bool] = False

    #: The demand, in the spec's words.
    asked: Asked
    #: What it asks for.
    quantity: Quantity
    #: Whether units are counted, or have a volume.
    measure: str
    #: What one unit of the shares is.
    unit: str
    #: Units of the demand for each of the task's.
    factor: int
    #: Units of the task that have nobody to be compared with.
    vacuous: int
    #: Units among the others of which that is not known.
    unsure: int
    #: What the positions of the task's attributes mean.
    attributes: tuple[SharedAttribute, ...]
    #: The task's numbers, and what is true or false of it.
    numbers: Mapping[str, bool | int] = field(default_factory=dict)
    #: How many arrays follow as `NAME/0`, `NAME/1`, ...; of every other name one.
    lists: Mapping[str, int] = field(default_factory=dict)


JOB = Kind(words="interval job", head=JobHead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task, and what its answer will mean. ``sha256`` names it."""

    task: Task
    head: JobHead
    sha256: str


def pack_job(task: Task, head: JobHead) -> bytes:
    """The job's file, the header completed by the task; the same job gives the same bytes."""
    numbers: dict[str, bool | int] = {}
    lists: dict[str, int] = {}
    arrays: dict[str, NDArray[np.generic]] = {}
    for each in fields(Task):
        match getattr(task, each.name):
            case np.ndarray() as array:
                arrays[each.name] = array
            case () if each.default == ():
                pass
            case tuple() as several:
                lists[each.name] = len(several)
                arrays |= {f"{each.name}/{number}": array for number, array in enumerate(several)}
            case bool() | int() as number:
                numbers[each.name] = number
    return pack(plain(replace(head, numbers=numbers, lists=lists)), arrays)


def read_job(path: Path) -> Job:
    """A job from its file. DiagnosticError for a file that is none, is newer, or is damaged."""
    content = unpack(JOB, path)
    try:
        return Job(task=_task(content.head, content.arrays), head=content.head, sha256=content.sha256)
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, ValueError) else "a part of it is missing"
        raise DiagnosticError(errors.damaged(str(path), reason)) from error


def _task(head: JobHead, arrays: Arrays) -> Task:
    """The task again; KeyError where a part is missing, ValueError where its parts do not fit together."""
    several = {name: tuple(arrays[f"{name}/{number}"] for number in range(count)) for name, count in head.lists.items()}
    alone = {name: array for name, array in arrays.items() if "/" not in name}
    task = Task(**{"float32_error": None} | alone | several | dict(head.numbers))  # type: ignore[arg-type]
    check_task(task)
    return task
