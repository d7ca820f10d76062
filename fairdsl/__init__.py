"""fairdsl: is this model fair, and can you prove it?

A ``.fair`` file beside a model says what is required; these functions answer::

    import fairdsl

    report = fairdsl.check("examples/credit/credit.fair")
    for checked in report.properties:
        print(checked.name, checked.judgement.value)

Mistakes in a spec or in the files it names raise :class:`SpecError`, whose ``diagnostics`` say what and
where. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairdsl.api.auditing import audit, audit_table
from fairdsl.api.drafting import init
from fairdsl.api.files import (
    compile,  # noqa: A004 - the verb of the trade
    prune,
    recover,
    solve,
    verify,
)
from fairdsl.api.repairing import guarantee, repair
from fairdsl.api.reports import compare, read_report
from fairdsl.api.search import replay_pair, search
from fairdsl.api.sensitivity import sensitivity
from fairdsl.api.specs import agreement, capabilities, check, explain, lint, plans
from fairdsl.source.reading import reading
from fairdsl.source.spreadsheets import writing

if TYPE_CHECKING:
    from fairdsl.backends.smt.options import Order, Partition
    from fairdsl.diagnostics import DiagnosticError as SpecError
    from fairdsl.report.frames import ViolationError
    from fairdsl.report.model import Report

__all__ = [
    "Order",
    "Partition",
    "Report",
    "SpecError",
    "ViolationError",
    "__version__",
    "agreement",
    "audit",
    "audit_table",
    "capabilities",
    "check",
    "compare",
    "compile",
    "explain",
    "guarantee",
    "init",
    "lint",
    "plans",
    "prune",
    "read_report",
    "reading",
    "recover",
    "repair",
    "replay_pair",
    "search",
    "sensitivity",
    "solve",
    "verify",
    "writing",
]


def __getattr__(name: str) -> Any:
    match name:
        case "__version__":
            from fairdsl.resources import version

            return version()
        case "load_ipython_extension":
            from fairdsl.integrations.notebook import register

            return register
        case "Order" | "Partition":
            from fairdsl.backends.smt import options

            return getattr(options, name)
        case "Report":
            from fairdsl.report.model import Report

            return Report
        case "ViolationError":
            from fairdsl.report.frames import ViolationError

            return ViolationError
        case "SpecError":
            from fairdsl.diagnostics import DiagnosticError

            return DiagnosticError
    raise AttributeError(f"module `fairdsl` has no `{name}`")
