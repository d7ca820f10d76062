"""The solver process: answers requests to z3, one after the other.

It runs as a program of its own (:mod:`fairdsl.processes`) and imports nothing but z3, so that it is there at once and
can be killed at any moment without harm. Every request gets a fresh context: z3 counts its resource limit per context,
and only so is a run with the same seed the same run. Request: ``text``, ``seed``, ``effort`` (z3's rlimit, 0: none),
``milliseconds``. Answer: ``status``, ``values``, ``detail``, ``spent`` of the resource limit.
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

import z3

#: Bytes of the process that are not z3's own: the interpreter's, and what the library takes before it counts.
_BESIDE = 128 << 20


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
        values = _values(solver.model()) if status == "sat" else {}
        detail = solver.reason_unknown() if status == "unknown" else ""
        return {"status": status, "values": values, "detail": detail, "spent": _spent(solver)}
    except z3.Z3Exception as error:
        return {"status": "crashed", "values": {}, "detail": str(error), "spent": 0}


def _spent(solver: Any) -> int:
    """How much of the resource limit it used, all in all."""
    found = solver.statistics()
    return int(found.get_key_value("rlimit count")) if "rlimit count" in found.keys() else 0  # noqa: SIM118


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


def serve(connection: Connection[object, Any], memory: str) -> None:
    """Answer requests until the parent hangs up; z3 gives up where its own count passes the memory, in bytes."""
    if int(memory):
        z3.set_param("memory_max_size", max(_BESIDE, int(memory) - _BESIDE) >> 20)
    while True:
        connection.send(answer(connection.recv()))
