"""The results of interval jobs, wherever they lie, become verdicts on the jobs' demands.

results, by job --usable--> the best of each shard --join_results--> verdicts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import randbits

from fairdsl.backends.contract import unanswered
from fairdsl.backends.encoding import Believing
from fairdsl.backends.errors import nothing_to_recover, other_questions
from fairdsl.backends.refining import errors
from fairdsl.backends.refining.container import claims
from fairdsl.backends.refining.jobs import Job, Jobs
from fairdsl.backends.refining.recheck import ALL, Recheck
from fairdsl.backends.refining.recover import Found, Shards, join_results, read_found, usable
from fairdsl.backends.solved import AnsweredDemand
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.source.writing import files_in
from fairdsl.verdict import Claim, Reason, Verdict


def collected(kind: Jobs, paths: Sequence[Path], how: Believing) -> tuple[AnsweredDemand, ...]:
    """The demands of this engine's jobs in these files and folders, with what their results come to.

    A job lies beside its results unless it is given. Raises DiagnosticError where there is nothing to
    recover, where results do not belong together, or claim what does not come out.
    """
    jobs, found = _sorted(kind, paths)
    given = [str(path) for path in paths]
    if not found:
        raise DiagnosticError(_no_results(given, list(jobs.values())))
    for one in found:
        if one.result.job not in jobs:
            beside = _beside(kind, one)
            if beside is None:
                raise DiagnosticError(nothing_to_recover(given, f"the job of `{one.path}` is not there"))
            jobs[one.result.job] = beside
    opened = {sha256: kind.read(path) for sha256, path in jobs.items()}
    _of_one_spec(opened, jobs)
    recheck = ALL if how.recheck else Recheck(seed=randbits(64) if how.seed is None else how.seed)
    answered = []
    for sha256, job in opened.items():
        file = jobs[sha256]
        if how.derived is not None and not how.derives(file):
            raise DiagnosticError(other_questions(str(file), "its job is not among those that the spec comes to"))
        results = [one for one in found if one.result.job == sha256]
        answered.append(_answered(kind.of(job), job, results, how.memory, recheck, file, how.derived is not None))
    return tuple(answered)


def _no_results(given: Sequence[str], jobs: Sequence[Path]) -> Diagnostic:
    """Jobs that nobody solved, or not even these."""
    if not jobs:
        write = "`fairdsl compile SPEC --to FORMAT -o DIR` says which questions a format does not express, and "
        write += "writes jobs of the others; `fairdsl solve FILE` makes their results"
        return nothing_to_recover(given, "no jobs, and no results", write)
    each = "" if len(jobs) == 1 else ", and so for each of the others"
    return nothing_to_recover(given, "no results", f"make one first: `fairdsl solve {jobs[0]}`{each}")


def _sorted(kind: Jobs, paths: Sequence[Path]) -> tuple[dict[str, Path], list[Found]]:
    """Job files by what they claim to be, and results."""
    files = [
        file
        for path in paths
        for file in (files_in(path) if path.is_dir() else [path])
        if not path.is_dir() or file.suffix in (".job", ".result")
    ]
    jobs: dict[str, Path] = {}
    found: list[Found] = []
    for file in dict.fromkeys(files):
        schema, sha256 = claims(file)
        if schema == kind.kind.head.SCHEMA:
            jobs.setdefault(sha256, file)
        elif file.suffix == ".job":
            kind.read(file)  # says what is wrong with it
        else:
            found.append(read_found(file))
    return jobs, found


def _beside(kind: Jobs, one: Found) -> Path | None:
    """The job in the folder of its result."""
    for file in files_in(one.path.parent):
        if file.is_file() and claims(file) == (kind.kind.head.SCHEMA, one.result.job):
            return file
    return None


def _of_one_spec(jobs: Mapping[str, Job], paths: Mapping[str, Path]) -> None:
    """A report is about one spec."""
    first = next(iter(jobs.values())).head.asked
    for sha256, job in jobs.items():
        if job.head.asked.spec_sha256 != first.spec_sha256:
            reason = f"it is about `{job.head.asked.spec}`, and others about another `{first.spec}`"
            raise DiagnosticError(errors.unfitting_part(str(paths[sha256]), reason))


def _answered(
    kind: Jobs, job: Job, found: Sequence[Found], memory: int, how: Recheck, file: Path, known: bool
) -> AnsweredDemand:
    """The demand of a job. Whether it is the spec's is ``known``, or else the file's word."""
    verdict: Verdict
    if found:
        best = usable(job, found)
        shards = Shards(kind, job, found[0].result.shards, memory)
        how = replace(how, files=len(best))
        parts = {shard: shards.opened(one, how) for shard, one in best.items()}
        said = () if known else (Claim(said="the question", file=file.name, sha256=job.sha256, by="whoever wrote it"),)
        verdict = join_results(job, shards, parts, said).verdict
    else:
        nothing = f"no result of it is there; `fairdsl solve {file}` makes one"
        verdict = unanswered(job.head.quantity, Reason.INCOMPLETE, nothing, backend=kind.backend)
    return AnsweredDemand(
        asked=job.head.asked,
        quantity=job.head.quantity,
        verdict=verdict,
        seconds=sum(one.result.seconds for one in found),
    )
