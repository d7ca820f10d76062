"""``guarantee``: a file that asks the model about a person with all protected values, and so decides alike.

Nothing is trained. The property holds of the new file by construction, and ``check`` proves it by what the file drops
before it computes anything; what that costs is measured on rows (:mod:`fairdsl.models.onnx_written.vote`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.clock import Deadline, phase
from fairdsl.codec import Document
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.ir.alike import apart
from fairdsl.ir.model import Model
from fairdsl.models.onnx_written.nodes import NotWrappedError
from fairdsl.models.onnx_written.vote import Wrapped, chosen_by, protected_columns, voting_file
from fairdsl.models.running.runtime import Runtime
from fairdsl.options import Options, Run
from fairdsl.options.commands import Guarantee, Vote
from fairdsl.repairing import errors
from fairdsl.repairing.result import CheckedProperty, Compared, checked_by
from fairdsl.repairing.subject import Rows, Subject, checked_file, subject_of
from fairdsl.repairing.wording import percent, points, row, verdicts, with_interval
from fairdsl.report.model import Report
from fairdsl.report.shown import Worded
from fairdsl.semantics import front_end
from fairdsl.source.writing import write_file

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Combinations of protected values that the model may be asked about, of each person.
_MOST = 256
#: Rows on which the written file is held against the votes counted here.
_HELD = 1_000
_ANOTHER = "name a property whose two individuals differ in attributes of few values, and in nothing else"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guaranteed(Worded, Document):
    """A file that decides alike whoever differs in what is protected, and its price on rows."""

    SCHEMA: ClassVar[str] = "fairdsl.guaranteed/1"

    #: The path of the spec.
    spec: str
    #: The property that holds of the file by construction.
    property_name: str
    #: The model's name in the spec.
    model: str
    #: What it decides between.
    outcomes: tuple[str, ...]
    #: The file of the model that is asked.
    original: str
    #: Whose answer is taken.
    by: Vote
    #: What is protected: the attributes whose own values the file drops.
    over: tuple[str, ...]
    #: How many combinations of their values the model is asked about.
    combinations: int
    #: The table that the price is measured on.
    rows: str
    #: Its digest.
    rows_sha256: str
    #: The model and the new file on these rows.
    compared: Compared
    #: The file that was written.
    file: str
    #: Its digest.
    sha256: str
    #: Whether the spec names another file by its digest, so that this one is not checked.
    pinned: bool
    #: What ``check`` says of the new file; None where it was not asked, or answers with findings alone.
    checked: tuple[CheckedProperty, ...] | None
    #: Findings about the spec and the new file.
    diagnostics: tuple[Diagnostic, ...]

    def lines(self) -> Iterator[str]:
        """What ``fairdsl guarantee`` prints, but for how to check the file."""
        yield f"{self.property_name}   {self.model}: {self.original} -> {self.file}"
        yield row("decision", f"{_ANSWERS[self.by]} about {self.combinations} combinations of {', '.join(self.over)}")
        before, after = self.compared.before, self.compared.after
        unfair = (with_interval(one.unfair, one.in_target) for one in (before, after))
        yield row("rows", f"{' -> '.join(unfair)} of those asked about are unfair (95% each), of `{self.rows}`")
        correct = (with_interval(one.correct, one.rows) for one in (before, after))
        yield row("accuracy", f"{' -> '.join(correct)}; {self.compared.changed:,} of {after.rows:,} decisions changed")
        yield row("", points(self.compared))
        for outcome, name in enumerate(self.outcomes):
            shares = (percent(one.decided[outcome], one.rows) for one in (before, after))
            yield row("" if outcome else "decided", f"{name} {' -> '.join(shares)}")
        yield from verdicts(self)


def guarantee_spec(
    path: str,
    *,
    property: str | None,  # noqa: A002 - the word of the language
    let: Mapping[str, str] | None = None,
    rows: str,
    output: str,
    settings: Guarantee,
    observer: Observer,
) -> Guaranteed:
    """Write to ``output`` a file that decides alike whoever differs in what the property protects.

    Raises DiagnosticError for mistakes in the spec and the table, and where there is no such file (E0594).
    """
    with phase("writing the new file", Deadline.after(settings.timeout)), TemporaryDirectory() as scratch:
        spec, findings = front_end(path, let)
        subject = subject_of(spec, path, property)
        combinations = _combinations(subject)
        people, digest = subject.rows(rows)
        heard = Reporter()
        model = subject.original(heard)
        wrapped = _wrapped(subject, model, combinations, settings.by)
        try:
            content = voting_file(wrapped, settings.by)
        except NotWrappedError as problem:
            raise DiagnosticError(_refusal(subject, str(problem))) from problem
        tried = Path(scratch) / "model.onnx"
        write_file(tried, content)
        new = subject.load(str(tried), Reporter())
        _hold(wrapped, subject, combinations, settings.by, new, people)
        compared = Compared.of(subject, model, new, people)
    write_file(Path(output), content)
    report: Report | None = None
    about: tuple[Diagnostic, ...] = ()
    if subject.source.sha256 is None:
        report, about = checked_file(
            path, let or {}, subject, Path(output), Budget.under(Options(Run(timeout=settings.timeout))), observer
        )
    return Guaranteed(
        spec=path,
        property_name=subject.name,
        model=model.name,
        outcomes=model.outcomes,
        original=subject.source.path,
        by=settings.by,
        over=tuple(subject.domain.attributes[place].name for place in subject.pair.differ),
        combinations=len(combinations),
        rows=rows,
        rows_sha256=digest,
        compared=compared,
        file=output,
        sha256=sha256(content).hexdigest(),
        pinned=subject.source.sha256 is not None,
        checked=None if report is None else checked_by(report),
        diagnostics=tuple(dict.fromkeys([*findings, *heard.diagnostics, *about])),
    )


def _refusal(subject: Subject, reason: str, help_text: str = _ANOTHER) -> Diagnostic:
    return errors.no_guarantee(subject.name, reason, subject.pair.span, help_text)


def _combinations(subject: Subject) -> Floats:
    """The combinations of protected values, [combinations, protected attributes]; DiagnosticError (E0594)."""
    pair, attributes = subject.pair, subject.domain.attributes
    if pair.relax:
        reason = "it compares people who differ in other attributes as well, whom the new file would tell apart"
        raise DiagnosticError(_refusal(subject, reason))
    sizes = [attributes[place].size for place in pair.differ]
    if any(size is None for size in sizes) or prod(size or 1 for size in sizes) > _MOST:
        reason = f"what is protected has more than {_MOST} combinations of values"
        raise DiagnosticError(_refusal(subject, reason))
    return np.array(list(product(*(attributes[place].values or () for place in pair.differ))), dtype=np.float64)


def _wrapped(subject: Subject, model: Model, combinations: Floats, vote: Vote) -> Wrapped:
    """What the new file is written around."""
    pair, deployed = subject.pair, model.deployed
    if deployed is None:
        reason = f"`{model.name}` is not an ONNX file, so that there is nothing to write a file around"
        raise DiagnosticError(_refusal(subject, reason, "export the model to ONNX and name that file in the spec"))
    try:
        columns = protected_columns(deployed, apart(pair))
    except NotWrappedError as problem:
        help_text = "let the model read protected attributes in columns of their own"
        raise DiagnosticError(_refusal(subject, str(problem), help_text)) from problem
    somebody = np.zeros((len(combinations), len(subject.domain.attributes)))
    somebody[:, list(pair.differ)] = combinations
    fed = Runtime(deployed).fed(somebody)
    return Wrapped(
        deployed=deployed,
        blocks={name: (places, fed[name][:, places]) for name, places in columns.items()},
        ranks=_favour(subject, model, vote),
        combinations=len(combinations),
    )


def _favour(subject: Subject, model: Model, vote: Vote) -> tuple[int, ...]:
    """How favourable each outcome is, from 0: by the written order, or the favourable one above all others."""
    places, favourable = list(range(len(model.outcomes))), model.favourable
    if subject.declaration.ordered or (len(places) == 2 and favourable is not None):
        return tuple(places[::-1] if favourable == 0 else places)
    if vote is Vote.LEAST_FAVOURABLE:
        help_text = "write `favourable OUTCOME` for two outcomes, the order of more, `{ low < medium < high }`"
        reason = f"nothing says which outcome of `{model.name}` is the least favourable"
        raise DiagnosticError(_refusal(subject, reason, help_text))
    if favourable is not None:
        places.remove(favourable)
        places.append(favourable)
    return tuple(places.index(outcome) for outcome in range(len(places)))


def _hold(wrapped: Wrapped, asked: Subject, combinations: Floats, vote: Vote, new: Model, people: Rows) -> None:
    """Hold the written file against the vote as it is counted here, on some of the rows; DiagnosticError (E0594).

    In a batch a matrix product may be rounded in another way, so who differs is asked about alone.
    """
    assert new.deployed is not None, "it was read from a file"
    points = people.values.floats[:_HELD]
    before, after = Runtime(wrapped.deployed), Runtime(new.deployed)
    written = after.decide_array(points)
    counted = _counted(before, points, asked, combinations, wrapped.ranks, vote)
    for place in np.flatnonzero(counted != written).tolist():
        alone = points[place : place + 1]
        each = _counted(before, alone, asked, combinations, wrapped.ranks, vote)
        if each[0] != after.decide_array(alone)[0]:
            reason = f"row {place + 1} would be decided otherwise than by the model's answers; nothing is written"
            raise DiagnosticError(_refusal(asked, reason, "see whether the model gives a number for all these people"))


def _counted(
    runtime: Runtime,
    points: Floats,
    subject: Subject,
    combinations: Floats,
    ranks: Sequence[int],
    vote: Vote,
) -> Integers:
    """The outcome [individuals] that the vote gives, from the model's decisions about everybody in each combination."""
    rank_of, decided = np.array(ranks), []
    for values in combinations:
        moved = points.copy()
        moved[:, list(subject.pair.differ)] = values
        decided.append(rank_of[runtime.decide_array(moved)])
    return np.asarray(np.argsort(rank_of)[chosen_by(vote, np.array(decided))])


_ANSWERS = {
    Vote.MAJORITY: "what the model answers most often",
    Vote.LEAST_FAVOURABLE: "the least favourable of the model's answers",
}
