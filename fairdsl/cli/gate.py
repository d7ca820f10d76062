"""``--fail-on``: which reports end a build.

Mistakes, refusals, a full disk and a run that somebody ended always do: then nothing is known of what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from glob import escape, glob
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

import fairdsl
from fairdsl.report.model import ExitCode, Report
from fairdsl.report.proof import unproved
from fairdsl.verdict import Judgement

if TYPE_CHECKING:
    from fairdsl.comparing.model import DemandChange

_Command = TypeVar("_Command", bound=Callable[..., Any])
_WORSE = "worse-than="
#: The exit codes that are about verdicts, each worse than the one before.
_SEVERITY = (ExitCode.HOLDS, ExitCode.UNKNOWN, ExitCode.VIOLATED)
#: What does not pass where there is nothing to compare it with; None: of what is not asked any more nothing is known.
_FAILING: dict[Judgement | None, ExitCode] = {Judgement.VIOLATED: ExitCode.VIOLATED}
_FAILING |= dict.fromkeys((Judgement.UNKNOWN, Judgement.VACUOUS, Judgement.REFUSED, None), ExitCode.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Gate:
    """What makes a build fail: what is unknown too, what is violated alone, or what is worse than it was."""

    unknown: bool = True
    baseline: Report | None = None
    #: As the option was written.
    written: str = ""
    #: Properties of which nothing more need be asked than is.
    removed: Collection[str] = ()
    #: The properties that are checked; none: all of them.
    chosen: Collection[str] = ()

    def of_run(self, removed: Collection[str], chosen: Collection[str]) -> Gate:
        """The gate of a run of the properties ``chosen``, of which those ``removed`` are asked less on purpose."""
        if removed and self.baseline is None:
            raise click.UsageError(
                "`--removed` is about a baseline: write `--fail-on worse-than=BASELINE.json` as well"
            )
        return replace(self, removed=removed, chosen=chosen)

    def exit_code(self, report: Report) -> ExitCode:
        """The exit code under this gate."""
        found = report.exit_code
        if found not in _SEVERITY:
            return found
        if self.baseline is not None:
            codes = (_FAILING[demand.after] for _, demand in self._worse(report))
            return max(codes, key=_SEVERITY.index, default=ExitCode.HOLDS)
        return found if self.unknown or found is ExitCode.VIOLATED else ExitCode.HOLDS

    def said(self, report: Report) -> str | None:
        """Why the exit code is another than without a gate; None where it is not."""
        found, meant = report.exit_code, self.exit_code(report)
        if found is meant:
            return None
        told = f"exit code {meant.value} in place of {found.value}, by `--fail-on {self.written}`"
        return "\n".join((told, *self._unasked_told(report)))

    def _unasked_told(self, report: Report) -> Iterator[str]:
        items = [(name, demand.text) for name, demand in self._worse(report) if demand.after is None]
        for name, text in items:
            yield f"    not asked any more: {name}, {text}"
        if items:
            names = dict.fromkeys(name for name, _ in items)
            yield f"    if that is meant: {' '.join(f'--removed {name}' for name in names)}"

    def _worse(self, report: Report) -> Iterator[tuple[str, DemandChange]]:
        """Each demand that got worse, or fails and is none of the baseline's, with the name of its property."""
        if self.baseline is None:
            return
        from fairdsl.comparing.compare import changes  # a run without a baseline need not wait for it
        from fairdsl.comparing.model import Course

        for item in changes(self.baseline, report, self.removed):
            for demand in item.demands if not self.chosen or item.name in self.chosen else ():
                new = demand.after is not None and (demand.before is None or item.another_question)
                if demand.course is Course.WORSE or (new and demand.after in _FAILING):
                    yield item.name, demand


def proof_gate(code: ExitCode, report: Report, *, asked: bool) -> ExitCode:
    """The exit code where proofs are demanded: what no checked proof shows is unknown, and said."""
    left = unproved(report.properties) if asked and code is ExitCode.HOLDS else []
    for each in left:
        click.echo(each, err=True)
    return ExitCode.UNKNOWN if left else code


def _read(_: click.Context, __: click.Parameter, text: str | None) -> Gate:
    match text:
        case None:
            return Gate()
        case "violated" | "unknown":
            return Gate(unknown=text == "unknown", written=text)
    if text.startswith(_WORSE) and text != _WORSE:
        return Gate(baseline=fairdsl.read_report(text.removeprefix(_WORSE)), written=text)
    raise click.BadParameter(f"`{text}` is not a gate; write violated, unknown or worse-than=BASELINE.json")


def _complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The words, and behind ``worse-than=`` the reports and folders that are there."""
    if not begun.startswith(_WORSE):
        return [CompletionItem(word) for word in ("violated", "unknown", _WORSE) if word.startswith(begun)]
    start = escape(begun.removeprefix(_WORSE))
    return [CompletionItem(_WORSE + path) for path in sorted((*glob(f"{start}*.json"), *glob(f"{start}*/")))]


def gate_option(command: _Command) -> _Command:
    """The option; its :class:`Gate` goes by the name ``gate``."""
    return click.option(
        "--fail-on",
        "gate",
        metavar="WHAT",
        callback=_read,
        shell_complete=_complete,
        hidden=True,
        help="What exits with 1 or 3: unknown (the usual), violated alone, or worse-than=BASELINE.json, a report: "
        "demands that came to less than there, are not there, or held there and are not asked any more.",
    )(command)


def removed_option(*, hidden: bool) -> Callable[[_Command], _Command]:
    """The option of what is compared with a baseline, or with another report."""
    return click.option(
        "--removed",
        multiple=True,
        metavar="PROPERTY",
        hidden=hidden,
        help="Where what held before is not asked of this property any more, that is meant (repeatable).",
    )
