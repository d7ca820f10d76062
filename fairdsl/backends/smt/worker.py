"""The solver process: reads requests, one JSON object a line, and answers each with one line.

It runs as a program of its own and imports nothing but z3, so that it can be killed at any moment without
harm. Every request gets a fresh context: z3 counts its resource limit per context, and only so is a run
with the same seed the same run. Request: ``text``, ``seed``, ``effort`` (z3's rlimit, 0: none),
``milliseconds``. Answer: ``status``, ``values``, ``detail``. The argument is the memory in bytes that the
process may use, 0 for no limit.
"""

from __future__ import annotations

import json
import os
import select
import sys
from contextlib import suppress
from threading import Thread
from typing import Any

import z3

__all__ = ["answer", "main"]

#: Bytes that the process may use where nothing is said, and how many of them are not z3's own: the interpreter's,
#: and what the library takes before it counts.
_MEMORY, _BESIDE = 4 << 30, 128 << 20


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Solve one script; whatever z3 does, a status comes back."""
    try:
        solver = z3.Solver(ctx=z3.Context())
        solver.set("random_seed", int(request["seed"]) % 2**31)
        if request["effort"]:
            solver.set("rlimit", int(request["effort"]))
        solver.set("timeout", max(1, int(request["milliseconds"])))
        solver.from_string(request["text"])
        status = str(solver.check())
        if status == "sat":
            return {"status": status, "values": _values(solver.model()), "detail": ""}
        detail = solver.reason_unknown() if status == "unknown" else ""
        return {"status": status, "values": {}, "detail": detail}
    except z3.Z3Exception as error:
        return {"status": "crashed", "values": {}, "detail": str(error)}


def _values(model: Any) -> dict[str, str]:
    """The numbers in the model, exactly: ``p`` or ``p/q``."""
    found = {}
    for declaration in model.decls():
        value = model[declaration]
        if z3.is_rational_value(value):
            found[declaration.name()] = str(value.as_fraction())
        elif z3.is_int_value(value):
            found[declaration.name()] = value.as_string()
    return found


def main() -> None:
    """Serve until the input ends. What libraries print goes to the error stream, not into the answers."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    Thread(target=_end_with_parent, daemon=True).start()
    _limit(int(sys.argv[1]) if len(sys.argv) > 1 else _MEMORY)
    for line in sys.stdin:
        replies.write(json.dumps(answer(json.loads(line))) + "\n")
        replies.flush()


def _end_with_parent() -> None:
    """Wait until nobody is left who could ask, and end the process: a parent that was killed ends nobody."""
    line = select.poll()
    line.register(0, 0)  # a hang-up is told whether or not it is asked for
    line.poll()
    os._exit(1)


def _limit(memory: int) -> None:
    """z3 gives up where its own count passes the limit; the operating system keeps it whatever z3 counts."""
    if not memory:
        return
    z3.set_param("memory_max_size", max(_BESIDE, memory - _BESIDE) >> 20)
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
