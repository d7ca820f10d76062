"""Tasks in files: a record of arrays and numbers, and a header that says what its answer will mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.refining import errors
from fairdsl.backends.refining.container import Arrays, Kind, pack, unpack
from fairdsl.backends.refining.jobs import Job
from fairdsl.backends.solved import Asked
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.question import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the header of every job says: the demand that it answers."""

    STAMPED: ClassVar[bool] = False

    #: The demand, in the spec's words.
    asked: Asked
    #: What it asks for.
    quantity: Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHead(Head):
    """The header of a job whose arrays are those of a task."""

    #: Whether units are counted, or have a volume.
    measure: str
    #: What one unit of the shares is.
    unit: str
    #: The task's numbers, and what is true or false of it.
    numbers: Mapping[str, bool | int] = field(default_factory=dict)
    #: How many arrays follow as `NAME/0`, `NAME/1`, ...; of every other name one.
    lists: Mapping[str, int] = field(default_factory=dict)


def pack_task(task: Any, head: Any) -> bytes:
    """The job's file, the header completed by the task, a dataclass; the same job gives the same bytes."""
    numbers: dict[str, bool | int] = {}
    lists: dict[str, int] = {}
    arrays: dict[str, NDArray[np.generic]] = {}
    for each in fields(task):
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


def read_task(path: Path, kind: Kind, task: Callable[[Mapping[str, Any], Any], Any]) -> Job:
    """A job from its file, whose parts and header are made a ``task``; see :func:`read_job`."""
    return read_job(path, kind, lambda head, arrays: task(_parts(head, arrays), head))


def read_job(path: Path, kind: Kind, task: Callable[[Any, Arrays], Any]) -> Job:
    """A job from its file, whose header and arrays are made a ``task``.

    KeyError or TypeError of it mean that a part is missing, ValueError that they do not fit together. DiagnosticError
    for a file that is none, is newer, or is damaged.
    """
    content = unpack(kind, path)
    try:
        return Job(task=task(content.head, content.arrays), head=content.head, sha256=content.sha256)
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, ValueError) else "a part of it is missing"
        raise DiagnosticError(errors.damaged(str(path), reason)) from error


def _parts(head: Any, arrays: Arrays) -> dict[str, Any]:
    several = {name: tuple(arrays[f"{name}/{number}"] for number in range(count)) for name, count in head.lists.items()}
    alone = {name: array for name, array in arrays.items() if "/" not in name}
    return alone | several | dict(head.numbers)
