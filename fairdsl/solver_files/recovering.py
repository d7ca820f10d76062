"""One question of a folder: held against what the spec comes to, then answered by what files say.

Asking --parts--> files and what settles them --held against--> manifest and folder
outputs --answer_to--> answers --encoding.recover--> a verdict a part --_joined--> verdict
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Encoding, Lowered, Parts
from fairdsl.backends.errors import other_questions
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from fairdsl.plan.anybody import of_somebody
from fairdsl.replay import shortened
from fairdsl.solver_files import errors
from fairdsl.solver_files.answers import Output, answer_to
from fairdsl.solver_files.manifest import MANIFEST, Manifest, Part, Question
from fairdsl.solver_files.questions import Asking, Derived
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of
from fairdsl.verdict import (
    Arithmetic,
    Claim,
    Coverage,
    Evidence,
    Holds,
    Reason,
    Refused,
    Tally,
    Unknown,
    Verdict,
    Violated,
    Word,
    worst,
)

#: What to do where files are not what they were.
AGAIN = "write the files again with `fairdsl compile`, and solve them"
#: Seconds to look for somebody to compare before a proof is reported as it is.
_SECONDS_FOR_ANYBODY = 5.0
#: Seconds of which a small part may go into short decimals for the pairs.
_SECONDS_FOR_PAIRS = 20.0


@dataclass(frozen=True)
class Recovering:
    """Verdicts of questions from the answers to their files, which are held against what is derived."""

    folder: Path
    manifest: Manifest
    outputs: Mapping[str, Sequence[Output]]
    #: The digests of the files that were derived so far.
    _derived: dict[str, str] = field(default_factory=dict)

    def verdict(self, asking: Asking, question: Question) -> Verdict:
        """What a demand came to."""
        found: list[tuple[Part, Verdict, tuple[Claim, ...]]] = []

        def answered(one: Derived) -> None:
            found.append((one.part, *self._part(asking.encoding, one)))

        asked = self.held_against(asking, question, answered)
        grid = asking.grid
        if grid is None:
            ((_, verdict, claims),) = found
        else:
            evidence = asking.encoding.evidence(asking.problem)
            verdict = _joined(grid, asked, evidence, {_number(part): one for part, one, _ in found})
            claims = tuple(claim for _, _, all_of in found for claim in all_of)
        verdict = of_somebody(verdict, asking.problem, Budget.of(_SECONDS_FOR_ANYBODY))
        verdict = shortened(verdict, asking.problem, _SECONDS_FOR_PAIRS)
        return _on_their_word(verdict, asking.problem, claims)

    def held_against(
        self, asking: Asking, question: Question, each: Callable[[Derived], None] = lambda _: None
    ) -> Question:
        """The question as it is derived, ``each`` part told; DiagnosticError where the manifest has another."""
        parts: list[Part] = []
        for one in asking.parts():
            self._hold_against(one.lowered)
            parts.append(one.part)
            each(one)
        asked = asking.question(parts)
        if asked != question:
            what = f"of `{question.demand}` in `{question.property}`, {_differing(asked, question)}"
            raise DiagnosticError(other_questions(str(self.folder / MANIFEST), what))
        return asked

    def nothing_else(self) -> None:
        """DiagnosticError where the folder speaks of files that nothing asks for."""
        other = next((name for name in self.manifest.files if name not in self._derived), None)
        if other is not None:
            what = f"it speaks of `{other}`, which the spec does not need"
            raise DiagnosticError(other_questions(str(self.folder / MANIFEST), what))

    def _part(self, encoding: Encoding, one: Derived) -> tuple[Verdict, tuple[Claim, ...]]:
        """The verdict on a part, and what it believes."""
        read = {
            name: answer_to(self.outputs[name], one.lowered.described.get(name, {}), encoding)
            for name in one.lowered.files
            if name in self.outputs
        }
        answers = {name: answer for name, (answer, _) in read.items()}
        return (
            encoding.recover(one.problem, one.lowered, answers),
            tuple(claim for _, claims in read.values() for claim in claims),
        )

    def _hold_against(self, lowered: Lowered) -> None:
        """DiagnosticError where the manifest, or what lies in the folder, is not what is derived."""
        for name, content in lowered.files.items():
            digest, said = sha256(content).hexdigest(), self.manifest.files.get(name, {})
            first = name not in self._derived  # which describes it, where several questions share a file
            if self._derived.setdefault(name, digest) != said.get("sha256"):
                what = f"its `{name}` is not the file that the spec, its models and its data come to"
                raise DiagnosticError(other_questions(str(self.folder / MANIFEST), what))
            found = read_json(json.dumps({**lowered.described.get(name, {}), "sha256": digest}))
            if first and found != said:
                key = next(key for key in (*found, *said) if found.get(key, said) != said.get(key, found))
                what = f"`{key}` of its `{name}` is not what the spec comes to"
                raise DiagnosticError(other_questions(str(self.folder / MANIFEST), what))
            path = self.folder / name
            try:
                changed = sha256(content_of(path)).hexdigest() != digest
            except OSError as error:
                what = "the solver file is missing"
                raise DiagnosticError(errors.outdated(str(path), what, "copy it beside the manifest")) from error
            if changed:
                what = "the solver file has changed since it was written"
                raise DiagnosticError(errors.outdated(str(path), what, AGAIN))


def _differing(ours: Question, theirs: Question) -> str:
    """The first thing that a manifest says of a question otherwise."""
    names = ("number", "fidelity", "verdict", "clauses", "formula", "partitions")
    other = next((name for name in names if getattr(ours, name) != getattr(theirs, name)), None)
    if other is not None:
        return f"its `{other}` is not what the spec comes to"
    if len(ours.parts) != len(theirs.parts):
        return f"it has {len(theirs.parts):,} parts and not {len(ours.parts):,}"
    place, keys = next(
        (number, [name for name in Part.__dataclass_fields__ if getattr(one, name) != getattr(other, name)])
        for number, (one, other) in enumerate(zip(ours.parts, theirs.parts, strict=True), start=1)
        if one != other
    )
    return f"`{keys[0]}` of part {place:,} is not what the spec comes to"


def _number(part: Part) -> int:
    assert part.partition is not None, "a part of a question that is cut has a number"
    return part.partition


def _on_their_word(verdict: Verdict, problem: Problem, claims: Sequence[Claim]) -> Verdict:
    """The verdict with what it rests on: a pair was replayed here; whatever else was answered is somebody's word."""
    if isinstance(verdict, Refused):
        return verdict
    basis = verdict.evidence.basis.about(problem)
    match verdict:
        case Violated(witnesses=pairs):
            both = bool(pairs) and all(pair.replay.float32 for pair in pairs)
            basis = replace(basis, arithmetic=Arithmetic.DEPLOYED if both else Arithmetic.EXACT, word=Word.OWN)
        case Unknown():
            basis = replace(basis, word=Word.FILES)
        case _ if claims:
            basis = replace(basis, arithmetic=Arithmetic.CLAIMED, word=Word.FILES, claims=tuple(claims))
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


def _joined(grid: Parts, question: Question, evidence: Evidence, verdicts: Mapping[int, Verdict]) -> Verdict:
    """The verdict on all partitions: their tallies are in the evidence."""
    assert question.partitions is not None
    evidence = replace(evidence, coverage=_coverage(grid, question.partitions.size, verdicts))
    violations = [verdict for verdict in verdicts.values() if isinstance(verdict, Violated)]
    if violations:
        return replace(violations[0], evidence=evidence)
    undecided = [verdict for verdict in verdicts.values() if isinstance(verdict, Unknown)]
    if undecided:
        return replace(worst(undecided), evidence=evidence)
    if len(verdicts) < grid.count:
        detail = f"{grid.count - len(verdicts):,} of {grid.count:,} partitions have no file"
        return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=evidence)
    return Holds(evidence=evidence)


def _coverage(grid: Parts, size: int, verdicts: Mapping[int, Verdict]) -> Coverage:
    """How many partitions came to what, which share of all units lies in them, and why some are unknown."""

    def tally(kind: type[Verdict]) -> Tally:
        found = [index for index, verdict in verdicts.items() if isinstance(verdict, kind)]
        return Tally(count=len(found), volume=sum(map(grid.volume, found), Fraction(0)))

    reasons = Counter(verdict.reason for verdict in verdicts.values() if isinstance(verdict, Unknown))
    return Coverage(
        size=size,
        total=grid.count,
        holds=tally(Holds),
        violated=tally(Violated),
        unknown=tally(Unknown),
        reasons=tuple(reasons.most_common()),
    )
