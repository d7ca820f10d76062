"""Write the job and result files of the golden cases: ``python tests/golden/make_jobs.py``.

Needed again whenever the content of interval jobs changes.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import fairdsl
from fairdsl.backends.intervals.job import read_job
from fairdsl.backends.refining.container import pack
from fairdsl.backends.refining.result import Result, read_result, result_name, write_result

ERRORS = Path(__file__).parent / "errors"
NAME = "sex_never_decides.job"


def result(job: str, shard: int, shards: int) -> Result:
    """A result with nothing in it; its header is all that matters here."""
    return Result(
        job=job,
        shard=shard,
        shards=shards,
        part="",
        leaves={},
        nodes=0,
        seconds=0.0,
        finished=False,
        undecided=0.0,
        falsified=0.0,
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fairdsl.compile(ERRORS / "E0607-spec-for-a-job" / "spec.fair", to="interval-job", directory=folder)
        job = Path(folder) / NAME
        for case in ("E0610-nothing-to-resume", "E0611-result-exists", "E0612-other-shards", "E0613-no-results"):
            shutil.copy(job, ERRORS / case)
        shutil.copy(job, ERRORS / "E0614-no-cluster")
        content = job.read_bytes()
        (ERRORS / "E0609-cut-off" / NAME).write_bytes(content[: len(content) // 4])
        sha256 = read_job(job).sha256
        _claim_too_much(Path(folder), ERRORS / "E0627-too-much-claimed")
    (ERRORS / "E0608-newer-version" / NAME).write_bytes(pack({"schema": "fairdsl.interval-job/4"}, {}))
    for shard, shards in ((1, 2), (2, 3)):
        path = result_name(ERRORS / "E0612-other-shards" / NAME, shard, shards)
        write_result(path, result(sha256, shard, shards))


def _claim_too_much(folder: Path, case: Path) -> None:
    """A result that says that nobody is treated unfairly, with a sha256 that fits."""
    (case / "sex_never_decides.result").unlink(missing_ok=True)
    spec = (ERRORS / "E0607-spec-for-a-job" / "spec.fair").read_text()
    (case / "spec.fair").write_text(spec.replace("age - 30", "age - 30 + 20 * (sex = male)"))
    fairdsl.compile(case / "spec.fair", to="interval-job", directory=case)
    answer = fairdsl.solve(case / NAME, output=case / "sex_never_decides.result").answer
    found = read_result(answer)
    nothing = {name: np.zeros_like(found.leaves[name]) for name in ("violating", "falsified")}
    write_result(answer, replace(found, leaves={**found.leaves, **nothing}, seconds=0.0))


if __name__ == "__main__":
    main()
