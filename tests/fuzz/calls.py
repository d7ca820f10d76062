"""How each reader is called: as a command calls it. What it raises for bad input ends here, and nothing else does."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

import fairdsl
from fairdsl.backends.intervals.job import read_job
from fairdsl.backends.leaf_boxes.job import read_job as job_of_forest
from fairdsl.backends.rates.job import read_job as job_of_people
from fairdsl.backends.refining.container import pack
from fairdsl.backends.refining.result import read_result
from fairdsl.backends.smt.recover import number, parse_answer
from fairdsl.backends.smt.vnnlib import answers
from fairdsl.backends.smt.vnnlib.formula import formula_of
from fairdsl.backends.smt.vnnlib.read import read_declared, read_query
from fairdsl.backends.ssat.files.answers import answer_of_count, answer_of_value, answer_of_weight
from fairdsl.backends.ssat.reading import read_sdimacs
from fairdsl.backends.ssat.reading_counts import read_count
from fairdsl.backends.subset_sum.encoding import SubsetSumInstance
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.backends.worst_pairs.job import read_job as job_of_gap
from fairdsl.codec.document import plain
from fairdsl.comparing.read import read_report
from fairdsl.data.table import read_table
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.diagnostics.text import render
from fairdsl.populations.build import read_network
from fairdsl.report.findings import Failure
from fairdsl.semantics import front_end
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.solver_files.manifest import files_named, read_manifest
from fairdsl.source import SourceFile
from fairdsl.source.numbers import read_number
from fairdsl.syntax.laid_out import laid_out
from fairdsl.syntax.parse import parse
from tests.fuzz.documents import SPEC
from tests.fuzz.ledgers import opened

_ABOUT = {"variables": 6, "clauses": 4, "chances": 3, "rounded": 1, "choices": [1, 2], "out_of": ["3", "4"]}
_SCORE = "score = age - 30\n  yes when score > 0"


def _said(findings: tuple[Diagnostic, ...]) -> None:
    """Findings are shown in both ways, which have to end, too."""
    render(findings)
    plain(Failure(diagnostics=findings))


def _written(content: bytes, folder: Path, name: str) -> Path:
    file = folder / name
    file.write_bytes(content)
    return file


def _checked(path: Path) -> CheckedSpec | None:
    try:
        checked, warnings = front_end(str(path))
    except DiagnosticError as error:
        _said(error.diagnostics)
        return None
    _said(warnings)
    return checked


def spec(content: bytes, folder: Path) -> None:
    _checked(_written(content, folder, "spec.fair"))


def fmt(content: bytes, folder: Path) -> None:
    """The two properties: the layout means the same, and laying out twice changes nothing."""
    try:
        source = SourceFile("spec.fair", content.decode("utf-8"))
        text = laid_out(source)
    except UnicodeDecodeError:
        return
    except DiagnosticError as error:
        _said(error.diagnostics)
        return
    layout = SourceFile("spec.fair", text)
    assert laid_out(layout) == text, "laying out twice changes something"
    assert parse(layout).spec == parse(source).spec, "the layout has another tree"
    before = _checked(_written(content, folder, "spec.fair"))
    after = _checked(_written(text.encode(), folder, "spec.fair"))
    assert (before is None) == (after is None), "one of file and layout is refused"
    assert repr(before) == repr(after) or _same(before, after), "the layout means something else"


def _same(one: object, other: object) -> bool:
    """Whether two checked specs are equal but for their places: sets have no order in a ``repr``."""
    return one == other


def _with(content: bytes, folder: Path, name: str, *, form: str = "json", model: str = _SCORE) -> None:
    """A spec that names the file, checked with everything opened."""
    _written(content, folder, name)
    text = SPEC.replace("FORM", form).replace("MODEL", model)
    if not name.startswith("law."):
        text = text.replace(f'from "law.{form}"', "uniform")
    _said(fairdsl.lint(_written(text.encode(), folder, "spec.fair"), files=True))


def bif(content: bytes, folder: Path) -> None:
    _population(content, folder, "bif")


def population(content: bytes, folder: Path) -> None:
    _population(content, folder, "json")


def _population(content: bytes, folder: Path, form: str) -> None:
    _written(content, folder, f"law.{form}")
    text = SPEC.replace("FORM", form).replace("MODEL", _SCORE)
    checked, _ = front_end(str(_written(text.encode(), folder, "spec.fair")))
    with suppress(DiagnosticError):
        read_network(checked.distributions["law"], str(folder / f"law.{form}"))


@cache
def _domain(folder: str) -> CheckedSpec:
    text = SPEC.replace("FORM", "json").replace("MODEL", _SCORE)
    return front_end(str(_written(text.encode(), Path(folder), "spec.fair")))[0]


def parquet(content: bytes, folder: Path) -> None:
    table(content, folder, "a.parquet")


def table(content: bytes, folder: Path, name: str = "a.csv") -> None:
    domain = _domain(str(folder)).domains["A"]
    try:
        read_table(str(_written(content, folder, name)), domain)
    except DiagnosticError as error:
        _said(error.diagnostics)


def linear(content: bytes, folder: Path) -> None:
    _with(content, folder, "m.json", model='from linear "m.json"\n  yes when score > 0')


def booster(content: bytes, folder: Path) -> None:
    """By its content, and as what it may be taken for."""
    for library in ("", "xgboost", "lightgbm", "catboost"):
        _with(
            content, folder, "m.json", model=f'from {library} "m.json"\n  reads age, share, vip\n  yes when class = 1'
        )


def keras(content: bytes, folder: Path) -> None:
    """As either kind of file: the content says which it is."""
    _with(content, folder, "m.keras", model='from "m.keras"\n  reads age, share, vip\n  yes when score > 0')


def rules(content: bytes, folder: Path) -> None:
    _with(content, folder, "m.json", model='from rules "m.json"')


def onnx(content: bytes, folder: Path) -> None:
    _with(content, folder, "m.onnx", model='from "m.onnx"\n  yes when score > 0')


def _said_of(read: object, *arguments: object) -> None:
    assert callable(read)
    try:
        read(*arguments)
    except DiagnosticError as error:
        _said(error.diagnostics)


def _text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")


def sdimacs(content: bytes, folder: Path) -> None:
    _said_of(read_sdimacs, _text(content), "a.sdimacs")


def counts(content: bytes, folder: Path) -> None:
    _said_of(read_count, _text(content), "a.cnf")


def query(content: bytes, folder: Path) -> None:
    _said_of(read_query, _text(content), "a.vnnlib")
    _said_of(lambda text: formula_of(read_declared(text, "a.vnnlib")), _text(content))


def ssat_answer(content: bytes, folder: Path) -> None:
    for read in (answer_of_value, answer_of_weight, answer_of_count):
        read(_text(content), _ABOUT)


def smt_answer(content: bytes, folder: Path) -> None:
    for value in parse_answer(_text(content)).values.values():
        with suppress(ValueError, ZeroDivisionError):
            number(value)


def vnnlib_answer(content: bytes, folder: Path) -> None:
    for value in answers.parse_answer(_text(content)).values.values():
        read_number(value)


def instance(content: bytes, folder: Path) -> None:
    _said_of(read_instance, _written(content, folder, "a.json"))
    SubsetSumInstance().answer(content.decode("utf-8", "replace"), {})


def job(content: bytes, folder: Path) -> None:
    _said_of(read_job, _written(_sealed(content), folder, "a.job"))


def forest_job(content: bytes, folder: Path) -> None:
    _said_of(job_of_forest, _written(_sealed(content), folder, "a.job"))


def population_job(content: bytes, folder: Path) -> None:
    _said_of(job_of_people, _written(_sealed(content), folder, "a.job"))


def gap_job(content: bytes, folder: Path) -> None:
    _said_of(job_of_gap, _written(_sealed(content), folder, "a.job"))


def result(content: bytes, folder: Path) -> None:
    _said_of(read_result, _written(_sealed(content), folder, "a.result"))


def _sealed(content: bytes) -> bytes:
    """A header and arrays that are text as a file with a digest that fits; what is no such text, as it is."""
    try:
        said = json.loads(content)
        arrays = {str(name): np.array(values, dtype=kind) for name, (kind, values) in said["arrays"].items()}
        return pack(dict(said["header"]), arrays)
    except Exception:  # what libraries raise for values that are not an array has no common kind
        return content


def manifest(content: bytes, folder: Path) -> None:
    file = _written(content, folder, "manifest.json")
    files_named(file)
    _said_of(read_manifest, file)
    _said_of(fairdsl.recover, folder)


def report(content: bytes, folder: Path) -> None:
    _said_of(read_report, str(_written(content, folder, "a.json")))


def ledger(content: bytes, folder: Path) -> None:
    file = _written(content, folder, "a.jsonl")
    try:
        found = opened(file)
    except DiagnosticError as error:
        _said(error.diagnostics)
        return
    for key in ("0", "1", "a"):
        found.violation(key)
    found.close()
