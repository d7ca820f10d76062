"""The process that checks parts of a proof: it imports nothing but the checker, as starting it counts."""

from __future__ import annotations

from multiprocessing.connection import Connection

from fairdsl_verify.parts import Parts


def serve(connection: Connection[object, object]) -> None:
    """Check the parts of a tree that the parent names, until it hangs up."""
    parts = Parts(*connection.recv())  # type: ignore[misc]
    while True:
        number = connection.recv()
        assert isinstance(number, int), "parts are numbered"
        try:
            connection.send(parts.checked(number))
        except Exception as error:  # a rejection, or what the checker calls one
            connection.send(error)
