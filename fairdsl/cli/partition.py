"""The options of ``check`` that ask a question partition by partition, and how solvers are used for it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import click

from fairdsl.backends.contract import Order, Partition
from fairdsl.cli.options import Seconds, size_of

__all__ = ["Partitioning", "partition_of", "partition_options", "solver_options"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Partitioning(click.ParamType):  # type: ignore[type-arg]  # generic in some versions only
    """A number of values, or ``adaptive``."""

    name = "SIZE|adaptive"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """The largest number of values, or the word."""
        if value == "adaptive":
            return "adaptive"
        try:
            size = int(value)
        except ValueError:
            self.fail(f"`{value}` is neither a number of values nor `adaptive`", param, ctx)
        if size < 1:
            self.fail("a partition holds at least one value of each attribute", param, ctx)
        return size


class Share(click.ParamType):  # type: ignore[type-arg]
    """A share: ``1%`` or ``0.01``."""

    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """The share as an exact fraction."""
        if isinstance(value, Fraction):
            return value
        text = str(value).strip()
        try:
            share = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except (ValueError, ZeroDivisionError):
            self.fail(f"`{value}` is no share; write for example 1% or 0.01", param, ctx)
        if not 0 <= share <= 1:
            self.fail(f"`{value}` is not between 0% and 100%", param, ctx)
        return share


_PARTITION = (
    click.option(
        "--partition",
        "size",
        type=Partitioning(),
        help="A verdict for each part of the domain: attributes with more than SIZE values are cut into chunks of "
        "SIZE; `adaptive` halves the domain where it is not decided.",
    ),
    click.option(
        "--partition-order",
        "order",
        type=click.Choice([order.value for order in Order]),
        help="Which partitions come first.  [default: seeded]",
    ),
    click.option("--first", type=click.IntRange(min=1), metavar="N", help="Ask only the first N partitions."),
    click.option("--keep-going", is_flag=True, help="Go on after the first partition that is violated."),
    click.option(
        "--partitions",
        "ledger",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write each partition's verdict to this file, a line of JSON each.",
    ),
    click.option("--resume", is_flag=True, help="Go on from what stands in the file of `--partitions`."),
    click.option(
        "--prune-units",
        "units",
        is_flag=True,
        help="Before a solver is asked about a partition, ask about each unit that bounds leave undecided.",
    ),
    click.option(
        "--prune-heuristically",
        "tolerance",
        type=Share(),
        help="Ask about partitions that stay unknown without the units that are active in at most this share of "
        "random individuals; what holds then proves nothing about the model and is counted apart.",
    ),
    click.option(
        "--profile",
        type=click.IntRange(min=1),
        metavar="N",
        help="Random individuals that `--prune-heuristically` draws in a partition.  [default: 1000]",
    ),
    click.option(
        "--pruned-networks",
        "networks",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Write each network that `--prune-heuristically` asks about into this folder, as ONNX.",
    ),
)

_SOLVERS = (
    click.option(
        "--query-timeout",
        type=Seconds(),
        metavar="SECONDS",
        help="What solvers may take for one partition.  [default: 10]",
    ),
    click.option(
        "--query-memory",
        callback=size_of,
        default="4GiB",
        show_default=True,
        metavar="SIZE",
        help="What each solver process may use for a partition.",
    ),
    click.option(
        "--trust-milp",
        is_flag=True,
        help="Count `infeasible` of the mixed-integer solver without a proof; the report says so.",
    ),
)


def partition_options(command: _Command) -> _Command:
    """Add the options on partitions to a command."""
    for option in reversed(_PARTITION):
        command = option(command)
    return command


def solver_options(command: _Command) -> _Command:
    """Add the options on solvers to a command."""
    for option in reversed(_SOLVERS):
        command = option(command)
    return command


def partition_of(
    size: int | str | None,
    order: str | None,
    first: int | None,
    keep_going: bool,
    ledger: str | None,
    resume: bool,
    units: bool,
    tolerance: Fraction | None,
    profile: int | None,
    networks: str | None,
) -> Partition | None:
    """What was asked for; UsageError where an option has no effect as things stand."""
    given = {
        "--partition-order": order,
        "--first": first,
        "--keep-going": keep_going or None,
        "--partitions": ledger,
        "--resume": resume or None,
        "--prune-units": units or None,
        "--prune-heuristically": tolerance,
        "--profile": profile,
        "--pruned-networks": networks,
    }
    if size is None:
        for name, value in given.items():
            if value is not None:
                raise click.UsageError(f"`{name}` is about partitions; add `--partition SIZE`")
        return None
    if resume and ledger is None:
        raise click.UsageError("`--resume` goes on from a file; name it with `--partitions FILE`")
    for name, value in (("--profile", profile), ("--pruned-networks", networks)):
        if value is not None and tolerance is None:
            raise click.UsageError(f"`{name}` is about heuristic pruning; add `--prune-heuristically SHARE`")
    if size == "adaptive" and (first is not None or order is not None):
        raise click.UsageError("adaptive partitions are made on the way; leave out `--first` and `--partition-order`")
    return Partition(
        size=None if isinstance(size, str) else size,
        order=Order(order or Order.SEEDED.value),
        first=first,
        keep_going=keep_going,
        ledger=ledger,
        resume=resume,
        units=units,
        tolerance=tolerance,
        profile=profile or 1000,
        networks=networks,
    )
