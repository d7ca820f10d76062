"""The results of interval jobs, wherever they lie, become verdicts on the jobs' demands.

results, by job --usable--> the best of each shard --join_results--> verdicts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fairdsl.backends.encoding import AnsweredDemand
from fairdsl.backends.errors import nothing_to_recover
from fairdsl.backends.intervals import errors
from fairdsl.backends.intervals.container import claims
from fairdsl.backends.intervals.job import JOB, Job, read_job
from fairdsl.backends.intervals.recover import Found, join_results, usable
from fairdsl.backends.intervals.result import read_result
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Word

__all__ = ["collected"]


def collected(paths: Sequence[Path], memory: int) -> tuple[AnsweredDemand, ...]:
    """The demands of the jobs in these files and folders, with what their results come to.

    A job lies beside its results unless it is given. Raises DiagnosticError where there is nothing to
    recover, or where results do not belong together.
    """
    jobs, found = _sorted(paths)
    given = [str(path) for path in paths]
    if not found:
        raise DiagnosticError(nothing_to_recover(given, "no results"))
    for one in found:
        if one.result.job not in jobs:
            job = _beside(one)
            if job is None:
                raise DiagnosticError(nothing_to_recover(given, f"the job of `{one.path}` is not there"))
            jobs[one.result.job] = job
    opened = {sha256: read_job(path) for sha256, path in jobs.items()}
    _of_one_spec(opened, jobs)
    return tuple(
        _answered(job, [one for one in found if one.result.job == sha256], memory) for sha256, job in opened.items()
    )


def _sorted(paths: Sequence[Path]) -> tuple[dict[str, Path], list[Found]]:
    """Job files by what they claim to be, and results."""
    files = [
        file
        for path in paths
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
        if not path.is_dir() or file.suffix in (".job", ".result")
    ]
    jobs: dict[str, Path] = {}
    found: list[Found] = []
    for file in dict.fromkeys(files):
        schema, sha256 = claims(file)
        if schema == JOB.schema:
            jobs.setdefault(sha256, file)
        elif file.suffix == ".job":
            read_job(file)  # says what is wrong with it
        else:
            found.append(Found(file, read_result(file)))
    return jobs, found


def _beside(one: Found) -> Path | None:
    """The job in the folder of its result."""
    for file in sorted(one.path.parent.iterdir()):
        if file.is_file() and claims(file) == (JOB.schema, one.result.job):
            return file
    return None


def _of_one_spec(jobs: Mapping[str, Job], paths: Mapping[str, Path]) -> None:
    """A report is about one spec."""
    first = next(iter(jobs.values())).asked
    for sha256, job in jobs.items():
        if job.asked.spec_sha256 != first.spec_sha256:
            reason = f"it is about `{job.asked.spec}`, and others about another `{first.spec}`"
            raise DiagnosticError(errors.unfitting_part(str(paths[sha256]), reason))


def _answered(job: Job, found: Sequence[Found], memory: int) -> AnsweredDemand:
    return AnsweredDemand(
        asked=job.asked,
        quantity=job.quantity,
        verdict=join_results(job, usable(job, found), memory, Word.FILES).verdict,
        seconds=sum(one.result.seconds for one in found),
    )
