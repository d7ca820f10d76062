"""The process that runs files which nobody has read: one loop may take for ever, one tensor all memory.

It imports nothing but onnxruntime. Requests: ``("open", key, model, threads)`` and ``("run", key, names, feeds)``; the
answer is ``("failed", why)``, ``("opened", inputs, outputs)`` or ``("ran", outputs)``.
"""

from __future__ import annotations

from multiprocessing.connection import Connection
from typing import Any

import onnxruntime


def opened(model: bytes, threads: int) -> Any:
    """A silent session of the file with these bytes; raises what onnxruntime raises."""
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def serve(connection: Connection[object, Any]) -> None:
    """Answer requests until the parent hangs up."""
    sessions: dict[object, Any] = {}
    while True:
        request = connection.recv()
        try:
            connection.send(_answered(sessions, request))
        except (EOFError, OSError):
            raise
        except Exception as problem:  # onnxruntime raises classes of its own per failure
            connection.send(("failed", str(problem) or type(problem).__name__))


def _answered(sessions: dict[object, Any], request: Any) -> tuple[object, ...]:
    match request:
        case ("open", key, model, threads):
            session = sessions[key] = opened(model, threads)
            inputs = [(item.name, item.type, item.shape) for item in session.get_inputs()]
            outputs = [(item.name, item.type, item.shape) for item in session.get_outputs()]
            return ("opened", inputs, outputs)
        case (_, key, names, feeds):
            return ("ran", sessions[key].run(names, feeds))
    raise ValueError("no such request")
