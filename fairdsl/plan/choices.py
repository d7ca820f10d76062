"""Names given on the command line or to the API: checked against what there is, never ignored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairdsl.backends.formats import formats
from fairdsl.backends.smt.options import Partition
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.elaborate import Elaboration
from fairdsl.ir.question import Pair, Quantity
from fairdsl.options import Options
from fairdsl.plan import errors
from fairdsl.plan.negotiate import Plan
from fairdsl.plan.registry import PARTITIONING, engine_of, engines
from fairdsl.semantics import CheckedSpec


def check_backend(options: Options) -> None:
    """DiagnosticError when there is no such backend, or it is not the one that answers partition by partition."""
    name = options.run.backend
    if name is not None and name not in (known := engines()):
        raise DiagnosticError(errors.unknown_choice("backend", name, tuple(known)))
    if options[Partition].size is not None and name not in (None, PARTITIONING):
        why = f"partitions are answered by `{PARTITIONING}`"
        raise DiagnosticError(errors.backend_refuses(name, why, None))


def check_format(name: str) -> None:
    """DiagnosticError when there is no such file format."""
    if name not in (known := formats()):
        raise DiagnosticError(errors.unknown_choice("file format", name, tuple(known)))


def check_properties(names: Sequence[str], spec: CheckedSpec) -> None:
    """DiagnosticError for every name that is not a property of the spec."""
    known = tuple(checked.name for checked in spec.properties)
    families = {checked.family for checked in spec.properties}
    unknown = [name for name in names if name not in known and name not in families]
    reporter = Reporter()
    reporter.extend(errors.unknown_choice("property", name, known) for name in unknown)
    if reporter.has_errors:
        raise DiagnosticError(*reporter)


def check_partition(path: str, request: Partition, elaborated: Elaboration) -> None:
    """DiagnosticError where partitions were asked for and no question, or several for one ledger, take them."""
    if request.size is None:
        return
    asked = [
        item.property.name
        for item in elaborated.demands
        if item.demand.quantity is Quantity.HOLDS and isinstance(item.demand.question, Pair)
    ]
    if not asked:
        raise DiagnosticError(errors.nothing_to_partition(path))
    folder = request.networks or request.sound_networks
    if folder is not None and len(set(asked)) < len(asked):
        why = "networks of one partition and of different questions would have the same name"
        raise DiagnosticError(errors.one_ledger(folder, tuple(asked), why))
    if request.ledger is not None and len(asked) > 1:
        raise DiagnosticError(errors.one_ledger(request.ledger, tuple(dict.fromkeys(asked))))


def unread(options: Options, plans: Iterable[Plan]) -> tuple[Diagnostic, ...]:
    """A warning for every option that is set for a backend which takes no part in the run."""
    asked = set[str]()
    for plan in plans:
        stages = (*plan.stages, *(plan.others if options.run.cross_check else plan.then))
        asked.update(stage.procedure.name for stage in stages)
    run = f"asks {', '.join(f'`{name}`' for name in sorted(asked)) or 'no backend'}"
    return tuple(
        errors.option_unread(
            tuple(section.given), f"`{engine}`", run, f", or let `{engine}` answer with `--backend {engine}`"
        )
        for section in options.sections
        if section.given and (engine := engine_of(type(section))) not in asked
    )
