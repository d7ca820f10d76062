"""Every registered format: written, solved by our own solver, and read back, it says what `check` says."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.encoding import Encoding, OutsideEncoding, encoding_of
from fairdsl.backends.formats import FORMATS, format_of, formats_of
from fairdsl.report.model import DemandReport, Report
from fairdsl.solver_files.manifest import MANIFEST
from fairdsl.verdict import Fidelity, Judgement
from tests.modules import PACKAGE, files, tree_of

ROOT = Path(__file__).parents[2]
SPEC = """
domain Person {{
  age  : integer 0 .. {oldest}
  work : boolean
  sex  : category {{ woman, man }}
}}
protected sex, work
model lend : Person -> {{ no, yes }}
  score = {score} + {sex} * (sex = man) - {limit}
  yes when score >= 0
  favourable yes
distribution people over Person
  sex  : table {{ woman: 35%, man: 65% }}
  work : bernoulli({chance}) given sex = woman
  work : bernoulli(0.5) given sex = man
  age  : uniform(0, {oldest})
property alike {{
  compare a, b : Person
  differ in sex
  require same decision
}}
property older {{
  compare a, b : Person
  differ in any sex, work
  among age > {target}
  require same decision
}}
property shares {{
  compare a, b : Person
  differ in sex
  require fair_share >= 75%
}}
property apart {{
  compare a, b : Person
  differ in sex
  measure max_score_gap
}}
property of_people {{
  compare a, b : Person
  differ in sex
  under   people
  require fair_share >= 75%
}}
property parity {{
  across  sex
  under   people
  require parity_gap <= {parity}%
  measure most_favoured
}}
property impact {{
  across  sex, work
  under   people
  require impact_ratio >= 80%
}}
"""


def drawn(form: str, seed: int, folder: Path) -> Path:
    """A small problem; every seed has something that is violated and something that holds, sooner or later.

    Its score is a sum of tests where files are about trees.
    """
    draw = random.Random(seed)
    path = folder / "lend.fair"
    oldest = draw.randint(4, 9)
    age, work = draw.choice([1, 2]), draw.randint(-3, 3)
    tests = " + ".join(f"{age} * (age >= {value})" for value in range(1, oldest + 1))
    text = SPEC.format(
        oldest=oldest,
        score=f"{tests} + {work} * (age < 3)" if form == "forest-job" else f"{age} * age + {work} * work",
        sex=draw.choice([0, 0, 1, 2]),
        limit=draw.randint(2, 8),
        chance=f"0.{draw.randint(1, 9)}",
        target=draw.randint(1, oldest - 1),
        parity=draw.randint(1, 40),
    )
    path.write_text(text, encoding="utf-8")
    return path


def solved(folder: Path) -> list[Report]:
    """Every file is answered where `recover` looks; the reports on files that are answered with one."""
    reports = []
    for file in sorted(folder.iterdir()):
        if format_of(file) is not None and file.name != MANIFEST:
            found = fairdsl.solve(file)
            reports += [] if found.report is None else [found.report]
            if found.answer is None:
                fairdsl.solve(file, output=f"{file}.answer")
    return reports


def demands(reports: Iterable[Report]) -> dict[tuple[str, str], DemandReport]:
    items = (item for report in reports for item in report.properties)
    return {(item.name, " ".join(demand.text.split())): demand for item in items for demand in item.demands}


def left_open(form: str, known: DemandReport, found: DemandReport) -> bool:
    """Whether files of the format may leave a demand open that `check` decides."""
    if form == "interval-job":  # a job has no model to replay a pair on
        return known.judgement is Judgement.VIOLATED and known.value is None
    # A point of `sat` may be about nobody; where there is a pair it is found, for all of them are looked at.
    return found.fidelity is Fidelity.WIDENS and known.judgement is Judgement.HOLDS


def agreed(form: str, seed: int, folder: Path) -> set[Judgement]:
    """What the demands came to, once they are held against `check`."""
    path, out = drawn(form, seed, folder), folder / "out"
    assert fairdsl.compile(path, to=form, directory=out).questions
    reports = solved(out)
    known = demands([fairdsl.check(path)])
    found = demands([fairdsl.recover(out)])
    if reports:
        held_against(form, demands(reports), known)
    return held_against(form, found, known)


Demands = dict[tuple[str, str], DemandReport]


def held_against(form: str, found: Demands, known: Demands) -> set[Judgement]:
    """What the answered demands came to, which is what `check` says."""
    answered = {key: demand for key, demand in found.items() if demand.judgement is not Judgement.REFUSED}
    assert answered
    for key, demand in answered.items():
        if demand.judgement is not Judgement.UNKNOWN or not left_open(form, known[key], demand):
            value, right = demand.value, known[key].value
            if form == "gap-job" and value != right:  # a job has no solver to close the last of it with
                assert value is not None
                assert right is not None
                assert value.low <= right.low <= right.high <= value.high <= value.low * (1 + Fraction(1, 10**6)), key
                value = right
            assert (demand.judgement, value) == (known[key].judgement, right), key
    return {demand.judgement for demand in answered.values()}


@pytest.mark.parametrize("form", FORMATS)
def test_files_that_are_solved_and_read_back_say_what_check_says(form: str, tmp_path: Path) -> None:
    assert agreed(form, 0, tmp_path) - {Judgement.UNKNOWN}


@pytest.mark.slow
@pytest.mark.parametrize(("form", "seed"), list(product(FORMATS, range(1, 11))))
def test_many_files_say_what_check_says(form: str, seed: int, tmp_path: Path) -> None:
    agreed(form, seed, tmp_path)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("damage", ["empty", "half", "words", "bytes"])
def test_damaged_files_are_refused_or_left_open(
    form: str, damage: str, damaged: Mapping[str, Path], tmp_path: Path
) -> None:
    """With a diagnostic; of a script it is z3 that says where, and the answer to it decides nothing."""
    whole = damaged[form].read_bytes()
    file = tmp_path / damaged[form].name
    content = {"empty": b"", "half": whole[: len(whole) // 2], "words": b"what is this?\n", "bytes": b"\xff\x00" * 40}
    file.write_bytes(content[damage])
    if form == "smtlib":
        assert fairdsl.solve(file).found.status in ("crashed", "sat")  # nothing is asserted in an empty script
        return
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.solve(file)
    assert all(finding.code.startswith("E06") for finding in caught.value.diagnostics)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A file of each format."""
    found = {}
    for form in FORMATS:
        folder = tmp_path_factory.mktemp(form)
        written = fairdsl.compile(drawn(form, 0, folder), to=form, directory=folder / "out").files
        found[form] = next(file for file in written if format_of(file) == form)
    return found


def test_formats_with_one_extension_are_told_apart_and_names_are_no_must(damaged: Mapping[str, Path]) -> None:
    assert {form: format_of(file) for form, file in damaged.items()} == {form: form for form in FORMATS}
    job = damaged["interval-job"]
    assert format_of(job.rename(job.with_name("renamed"))) == "interval-job"
    job.with_name("renamed").rename(job)


@pytest.mark.parametrize("form", FORMATS)
def test_options_that_say_nothing_about_a_format_are_mistakes(form: str, damaged: Mapping[str, Path]) -> None:
    given = {
        "shard": {"shard": 1, "shards": 2},
        "checkpoint": {"checkpoint": 1.0},
        "intervals.scheduler": {"options": {"intervals": {"scheduler": "tcp://host:1"}}},
        "leaf_boxes.scheduler": {"options": {"leaf_boxes": {"scheduler": "tcp://host:1"}}},
        "rates.scheduler": {"options": {"rates": {"scheduler": "tcp://host:1"}}},
        "smt.scheduler": {"options": {"smt": {"scheduler": "tcp://host:1"}}},
        "ssat.solver": {"options": {"ssat": {"solver": "pysdd"}}},
        "jobs": {"jobs": 1},
        "memory": {"memory": 1 << 30},
        "seed": {"seed": 1},
        "resume": {"resume": True},
    }
    assert encoding_of(form).options <= {*given, "output"}
    for name in given.keys() - encoding_of(form).options:
        with pytest.raises(ValueError, match=name.replace("_", "-")):
            fairdsl.solve(damaged[form], **given[name])


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_is_registered_in_one_line(form: str) -> None:
    encoding = encoding_of(form)
    assert isinstance(encoding, Encoding)
    assert encoding.name == form
    assert encoding.extension == FORMATS[form].extension
    assert [backend for backend in {row.backend for row in fairdsl.capabilities()} if form in formats_of(backend)]


def test_every_encoding_is_registered() -> None:
    """By their text, for a module that nobody registers is imported by nobody."""
    backends = [file for file in files() if file.is_relative_to(PACKAGE / "backends")]
    classes = [node for file in backends for node in tree_of(file).body if isinstance(node, ast.ClassDef)]
    encodings, before = {"Encoding"}, set[str]()
    while before != encodings:
        before = set(encodings)
        encodings |= {
            each.name for each in classes if {base.id for base in each.bases if isinstance(base, ast.Name)} & encodings
        }
    extended = {base.id for each in classes for base in each.bases if isinstance(base, ast.Name)}
    ours = encodings - extended - {OutsideEncoding.__name__}  # which stands for those of other packages
    assert ours == {form.encoding.partition(":")[2] for form in FORMATS.values()}


@pytest.mark.parametrize("piece", sorted(Encoding.__abstractmethods__))
def test_a_format_without_a_piece_cannot_be_made(piece: str) -> None:
    assert sorted(Encoding.__abstractmethods__) == ["answer", "evidence", "lower", "offer", "recover", "solve"]
    pieces = {name: lambda *_: None for name in Encoding.__abstractmethods__ if name != piece}
    with pytest.raises(TypeError, match=piece):
        type("Partial", (Encoding,), pieces)()
