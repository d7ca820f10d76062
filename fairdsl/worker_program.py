"""The beginning of a worker process: limits, and the function that it is there for.

It is run as a file, without the package around it (:mod:`fairdsl.processes`), and so imports nothing of ours.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import sys
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from types import ModuleType

#: As for the command itself (``fairdsl/cli/app.py``): looking for circles took a sixth of what imports take.
_OBJECTS = 100_000


def begin(handle: int, memory: int, target: str, *arguments: str) -> None:
    """In the worker: keep to the limits, and call the target."""
    gc.set_threshold(_OBJECTS)
    connection: Connection[object, object] = Connection(handle)
    Thread(target=_end_with_parent, args=(handle,), daemon=True).start()
    _limit(memory)
    module, _, function = target.rpartition(":")
    with suppress(EOFError, OSError):
        getattr(_module(module), function)(connection, *arguments)


def _module(name: str) -> ModuleType:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    spec = spec_from_file_location(Path(name).stem, name)
    assert spec is not None, "it is the path of a module"
    assert spec.loader is not None, "it is the path of a module"
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _end_with_parent(handle: int) -> None:
    """Wait until the parent is gone, and end the process: a parent that was killed ends nobody."""
    line = select.poll()
    line.register(handle, 0)  # a hang-up is told whether or not it is asked for
    line.poll()
    os._exit(1)


def _limit(memory: int) -> None:
    """The operating system's own limit in bytes on this process, where it has one; 0 for none."""
    if memory:
        with suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
