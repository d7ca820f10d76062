"""What runs over partitions say about their ledgers, in the words of every backend's results."""

from __future__ import annotations

from fairdsl.backends import errors
from fairdsl.diagnostics import Diagnostic

_OPTION, _RESUME = "partition.ledger=FILE", "partition.resume=yes"


def ledger_exists(path: str) -> Diagnostic:
    """A new run would mix its verdicts with those of an earlier one."""
    return errors.result_exists(path, _OPTION, resume=_RESUME)


def nothing_to_resume(path: str) -> Diagnostic:
    """There is no ledger to go on from."""
    return errors.nothing_to_resume(path, _OPTION, _RESUME)


def unfitting(path: str, reason: str) -> Diagnostic:
    """The ledger is about another question, or cut otherwise."""
    why = "verdicts on other partitions, or on another model, say nothing about these"
    return errors.unfitting(path, reason, why, "resume with the spec, model, size, order and seed that it began with")


def cannot_write(path: str, reason: OSError) -> Diagnostic:
    """The ledger cannot be written."""
    return errors.cannot_write(path, reason, f"name a file that can be written, with `{_OPTION}`")


def network_exists(path: str, option: str) -> Diagnostic:
    """A new run would put its networks of partitions among those of an earlier one."""
    return errors.result_exists(path, f"{option}=DIR", resume=_RESUME)


def cannot_write_network(folder: str, option: str, reason: OSError) -> Diagnostic:
    """The folder of networks that the option names cannot be made, or a file in it not written."""
    return errors.cannot_write(folder, reason, f"name a folder that can be written, with `{option}=DIR`")
