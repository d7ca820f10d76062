"""The solver process: reads requests, one JSON object a line, and answers each with one line.

It runs as a program of its own and imports nothing but z3, so that it can be killed at any moment without
harm. Every request gets a fresh context: z3 counts its resource limit per context, and only so is a run
with the same seed the same run. Request: ``text``, ``seed``, ``effort`` (z3's rlimit, 0: none),
``milliseconds``. Answer: ``status``, ``values``, ``detail``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import z3

__all__ = ["answer", "main"]

#: Megabytes; beyond them z3 gives up instead of taking the machine down.
_MEMORY = 4096


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
    z3.set_param("memory_max_size", _MEMORY)
    for line in sys.stdin:
        replies.write(json.dumps(answer(json.loads(line))) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
