"""One table of everything that reads files: what it begins with, how it is called, and which modules it exercises.

``tests/architecture/test_fuzzed.py`` holds the table against the package: a module that reads files and stands nowhere
in it fails there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tests.fuzz import calls, documents
from tests.fuzz.mutate import mutated
from tests.fuzz.sentences import sentence

__all__ = ["NOT_FUZZED", "READERS", "Reader", "inputs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Something that reads what others wrote.

    ``read`` gets the bytes and an empty folder; it returns normally whatever the bytes are: findings are results.
    """

    name: str
    begins: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], None]
    modules: tuple[str, ...]
    #: Shares of inputs that the grammar makes up; the others are mutations.
    made_up: float = 0.0


READERS: tuple[Reader, ...] = (
    Reader(
        name="spec",
        begins=documents.specs,
        read=calls.spec,
        modules=("semantics/load", "syntax/parse", "syntax/recover"),
        made_up=0.4,
    ),
    Reader(name="fmt", begins=documents.specs, read=calls.fmt, modules=("cli/fmt", "syntax/laid_out"), made_up=0.5),
    Reader(name="csv", begins=documents.tables, read=calls.table, modules=("data/table", "data/text", "data/cells")),
    Reader(name="parquet", begins=documents.parquet, read=calls.parquet, modules=("data/parquet",)),
    Reader(
        name="bif", begins=documents.networks, read=calls.bif, modules=("populations/build", "populations/bif_read")
    ),
    Reader(
        name="population", begins=documents.populations, read=calls.population, modules=("populations/document_read",)
    ),
    Reader(name="linear", begins=documents.linear, read=calls.linear, modules=("models/linear_json",)),
    Reader(
        name="booster",
        begins=documents.boosters,
        read=calls.booster,
        modules=("models/boosters/reading", "models/boosters/lightgbm", "models/boosters/xgboost"),
    ),
    Reader(name="keras", begins=documents.keras, read=calls.keras, modules=("models/keras_files/archive",)),
    Reader(name="rules", begins=documents.rules, read=calls.rules, modules=("models/rules_file", "codec/placed")),
    Reader(
        name="onnx",
        begins=documents.onnx,
        read=calls.onnx,
        modules=("models/onnx_import/file", "models/onnx_import/signature"),
    ),
    Reader(name="sdimacs", begins=documents.sdimacs, read=calls.sdimacs, modules=("backends/ssat/files/encoding",)),
    Reader(name="dimacs", begins=documents.counts, read=calls.counts, modules=("backends/ssat/reading",)),
    Reader(
        name="ssat-answer",
        begins=documents.ssat_answers,
        read=calls.ssat_answer,
        modules=("backends/ssat/files/answers",),
    ),
    Reader(
        name="smt-answer",
        begins=documents.smt_answers,
        read=calls.smt_answer,
        modules=("backends/smt/recover", "backends/smt/encoding"),
    ),
    Reader(
        name="vnnlib",
        begins=documents.queries,
        read=calls.query,
        modules=("backends/smt/vnnlib/encoding", "backends/smt/vnnlib/verify"),
    ),
    Reader(
        name="vnnlib-answer",
        begins=documents.smt_answers,
        read=calls.vnnlib_answer,
        modules=("backends/smt/vnnlib/answers",),
    ),
    Reader(
        name="subset-sum",
        begins=documents.instances,
        read=calls.instance,
        modules=("backends/subset_sum/instance_read", "backends/subset_sum/encoding"),
    ),
    Reader(name="job", begins=documents.jobs, read=calls.job, modules=("backends/refining/container",)),
    Reader(
        name="forest-job",
        begins=documents.forest_jobs,
        read=calls.forest_job,
        modules=("backends/leaf_boxes/task", "backends/leaf_boxes/pair_task", "backends/leaf_boxes/job"),
    ),
    Reader(
        name="population-job",
        begins=documents.population_jobs,
        read=calls.population_job,
        modules=("backends/rates/closed", "backends/rates/job", "backends/refining/written_models"),
    ),
    Reader(name="gap-job", begins=documents.gap_jobs, read=calls.gap_job, modules=("backends/worst_pairs/job",)),
    Reader(name="result", begins=documents.results, read=calls.result, modules=("backends/refining/result",)),
    Reader(name="ledger", begins=documents.ledgers, read=calls.ledger, modules=("backends/smt/partition/ledger",)),
    Reader(
        name="manifest",
        begins=documents.manifests,
        read=calls.manifest,
        modules=("solver_files/manifest", "solver_files/recover", "solver_files/answers"),
    ),
    Reader(
        name="report",
        begins=documents.reports,
        read=calls.report,
        modules=("comparing/read", "codec/text", "codec/document"),
    ),
)

#: Modules that open or decode files that no other person wrote, or only hash them.
NOT_FUZZED = {
    "backends/warmup": "two numbers of a process of ours, for a progress bar",
    "clock/memory": "a number of the system's own, from /proc",
    "cli/kept": "reads what it kept itself in a private folder, by the codec of reports",
    "syntax/tables": "the package's own tables",
    "syntax/mistakes": "the package's own table",
    "resources": "the package's own files",
    "source/json_text": "makes sense of what the readers above hand to it",
    "cli/check": "only hashes a spec that was read",
    "clock/deadline": "what the system says of this process",
    "processes": "what this run's own processes print, and how they are started",
    "report/hashes": "only hashes",
    "second_opinions/ask": "what a solver of ours wrote a moment ago, read as any answer is",
    "second_opinions/bundle": "only copies",
    "repairing/repair": "only hashes a file of its own",
    "models/which_file": "only hashes, and looks whether a file can be opened",
    "models/running/runtime": "reads again what the importer has read",
    "pruning/onnx_file": "reads again what the importer has read",
    "models/confirm/remembered": "a private cache of this user",
    "backends/refining/worker": "task files that this run wrote",
    "numerics/kernels/compiled": "only hashes the package's own code",
    "backends/ssat/solvers/libraries": "what this run's own processes write",
    "backends/answer_files": "only looks whether a file is there",
    "numerics/kernels/cache": "compiled kernels, from a private folder alone",
    "backends/formats": "looks at the first bytes only",
    "solver_files/folder": "only compares and hashes",
}


@cache
def _begun(reader: Reader) -> tuple[bytes, ...]:
    return (*reader.begins(), *documents.corpus(reader.name))


def inputs(reader: Reader, seed: int) -> bytes:
    """The input of that number: the same one every time."""
    random = Random(f"{reader.name} {seed}")
    if random.random() < reader.made_up:
        return sentence(random)
    begun = _begun(reader)
    return mutated(random.choice(begun), random, begun)
