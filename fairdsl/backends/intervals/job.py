"""Interval jobs as files: a task, and what its answer will mean, in the spec's words.

A job needs neither the spec nor the model to be solved, and its results need nothing but the job to become a
verdict again. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.intervals.task import Task
from fairdsl.backends.intervals.task_check import check_task
from fairdsl.backends.refining.container import Kind
from fairdsl.backends.refining.jobs import Job
from fairdsl.backends.refining.tasks import TaskHead, pack_task, read_task
from fairdsl.codec import Document, Exact


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
class JobHead(TaskHead, Document):
    """The header of an interval job."""

    SCHEMA: ClassVar[str] = "fairdsl.interval-job/3"

    #: Units of the demand for each of the task's.
    factor: int
    #: Units of the task that have nobody to be compared with.
    vacuous: int
    #: Units among the others of which that is not known.
    unsure: int
    #: What the positions of the task's attributes mean.
    attributes: tuple[SharedAttribute, ...]


JOB = Kind(words="interval job", head=JobHead)


def pack_job(task: Task, head: JobHead) -> bytes:
    """The job's file, the header completed by the task; the same job gives the same bytes."""
    return pack_task(task, head)


def read_job(path: Path) -> Job:
    """A job from its file. DiagnosticError for a file that is none, is newer, or is damaged."""

    def task(parts: Mapping[str, Any], _: JobHead) -> Task:
        found = Task(**{"float32_error": None, **parts})
        check_task(found)
        return found

    return read_task(path, JOB, task)
