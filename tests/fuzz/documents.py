"""Valid documents of every kind that is read: what fuzzing begins with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairdsl.backends.refining.container import Kind

_GOLDEN = Path(__file__).parents[1] / "golden" / "errors"

__all__ = ["ROOT", "SPEC", "TABLE", "corpus", "specs"]

ROOT = Path(__file__).parents[2]
_CORPUS = Path(__file__).parent / "corpus"

SPEC = """domain A {
  sex : category { female, male }
  age : integer 18 .. 90 bins at 30, 50
  vip : boolean
  share : real 0 .. 1 bins at 0.25
  where age > 20 or not (vip)
}

protected sex
label repaid : boolean deserving yes
graph causes { sex -> age -> repaid }
condition young over A = age < 30

distribution law over A, repaid
  from "law.FORM"

model m : A -> { no, yes }
  MODEL
  favourable yes

property p "nobody is treated worse" {
  compare  a, b : A
  differ   in sex
  within 2 in age
  among young
  require  same decision
}

property g {
  across   sex
  under    law
  among age >= 25
  require  impact_ratio >= 80%
  measure  parity_gap, opportunity_gap
}
"""
TABLE = b"sex,age,vip,share,repaid\nfemale,30,yes,0.5,no\nmale,45,no,0.25,yes\nfemale,61,yes,1,yes\nmale,22,no,0,no\n"


def corpus(reader: str) -> list[bytes]:
    """What a reader once stumbled over."""
    return [file.read_bytes() for file in sorted((_CORPUS / reader).glob("*"))]


def specs() -> list[bytes]:
    """Specs of the repository, the shorter ones."""
    found = [*ROOT.glob("examples/*/*.fair"), *ROOT.glob("specs/*.fair"), *ROOT.glob("tests/golden/errors/*/*.fair")]
    texts = sorted({file.read_bytes() for file in found})
    return [text for text in texts if len(text) < 6_000]


def tables() -> list[bytes]:
    return [TABLE, TABLE.replace(b",", b";"), TABLE.replace(b"\n", b"\r\n")]


def parquet() -> list[bytes]:
    """Nothing but the magic number where the library is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return [b"PAR1" * 4]
    columns = {"sex": ["female", "male"], "age": [30, 45], "vip": [True, False], "share": [0.5, 0.25]}
    written = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), written)
    return [written.getvalue().to_pybytes()]


def linear() -> list[bytes]:
    first = {"features": ["sex", "age", "vip", "share"], "coefficients": [1.5, -2e3, 0.25, 1], "intercept": 0.25}
    return [json.dumps(one).encode() for one in (first, first | {"coefficients": [first["coefficients"]]})]


def boosters() -> list[bytes]:
    """Small models of all libraries, as they saved them."""
    folder = Path(__file__).parents[1] / "models" / "booster_files"
    files = ("xgboost.json", "xgboost_categories.ubj", "lightgbm_categories.txt", "catboost_lossguide.json")
    return [(folder / name).read_bytes() for name in files]


def keras() -> list[bytes]:
    """Small networks, as Keras saved them."""
    folder = Path(__file__).parents[1] / "models" / "keras_files"
    return [(folder / name).read_bytes() for name in ("sequential.keras", "sequential.h5", "shared.keras")]


def rules() -> list[bytes]:
    listed = [{"if": "age < 30 and sex = male", "then": "no"}, {"if": "not (vip) or age in 30 .. 40", "then": "yes"}]
    return [
        json.dumps({"rules": listed, "otherwise": "yes"}).encode(),
        json.dumps({"dnf": [["age < 30", "vip"], ["share > 0.5"]], "then": "no", "otherwise": "yes"}).encode(),
        json.dumps(
            {"cnf": [["age < 30", "vip"], ["share > 0.5"]], "then": "no", "otherwise": "yes"}, indent=1
        ).encode(),
    ]


_LAW = """network law { property "made by hand" ; }
variable sex { type discrete [ 2 ] { female, male }; }
variable age { type discrete [ 2 ] { s0, s1 }; property "s0 = [18, 40)" ; property "s1 = [40, 90]" ; }
variable vip { type discrete [ 2 ] { false, true }; }
variable share { type discrete [ 2 ] { s0, s1 }; property "s0 = [0, 0.25)" ; property "s1 = [0.25, 1]" ; }
variable repaid { type discrete [ 2 ] { false, true }; }
probability ( sex ) { table 0.5, 0.5 ; }
probability ( age | sex ) { (female) 0.25, 0.75 ; default 0.5, 5e-1 ; }
probability ( vip ) { table 0.1, 0.9 ; }
probability ( share ) { table 0.5, 0.5 ; }
probability ( repaid | age ) { (s0) 0.3, 0.7 ; (s1) 0.2, 0.8 ; }
"""


def networks() -> list[bytes]:
    return [_LAW.encode()]


def populations() -> list[bytes]:
    half = ["1/2", "1/2"]
    two = [
        {"low": "0", "high": "0.25", "open": True, "inside": "uniform"},
        {"low": "0.25", "high": "1", "inside": "uniform"},
    ]
    columns = [
        {"name": "sex", "values": ["female", "male"]},
        {"name": "age", "values": [{"low": "18", "high": "39"}, {"low": "40", "high": "90"}]},
        {"name": "vip", "values": ["false", "true"]},
        {"name": "share", "values": two},
        {"name": "repaid", "values": ["false", "true"]},
    ]
    laws = [{"column": column["name"], "parents": [], "rows": [{"given": [], "law": half}]} for column in columns]
    return [json.dumps({"schema": "fairdsl.population/1", "columns": columns, "laws": laws}).encode()]


def onnx() -> list[bytes]:
    files = [*ROOT.glob("examples/*/*.onnx"), *ROOT.glob("tests/golden/errors/*/*.onnx")]
    return [file.read_bytes() for file in sorted(files) if file.stat().st_size < 12_000]


def sdimacs() -> list[bytes]:
    return [
        b"c name 1 x\nc exact 2 1/3\np cnf 4 3\ne 1 0\nr 0.3333333333333333 2 0\nr 0.25 3 0\na 4 0\n"
        b"1 2 0\n-1 3 4 0\n-2 -4 0\n",
        b"p cnf 3 2\nr 0.5 1 2 0\ne 3 0\n1 -3 0\n2 3 0\n",
    ]


def counts() -> list[bytes]:
    return [
        b"p cnf 3 2\nc p show 1 2 0\nc p weight 1 0.25 0\nc p weight -1 3/4 0\n1 2 0\n-1 3 0\n",
        b"p cnf 2 1\n1 2 0\n",
    ]


def ssat_answers() -> list[bytes]:
    return [
        b"  > Satisfying probability: 6.000000e-01\n",
        b"  > Best upper bound: 7.5e-01\n  > Best lower bound: 2.5e-01\n",
        b"a.sdimacs   from 0.25 to 0.75   5 variables, 1 clause\n",
        b"c s type wmc\ns SATISFIABLE\nc s log10-estimate -0.30102999\nc s exact quadruple float 5.0e-1\n",
        json.dumps(
            {"schema": "fairdsl.solved/1", "exact": "3/5", "value": {"low": 0.6, "high": 0.6}, "choice": None}
        ).encode(),
        b"3/5",
    ]


def smt_answers() -> list[bytes]:
    return [
        b"sat\n((a.age 30) (|b.age| (- 3)) (a.share (/ 1.0 3.0)))\n",
        b"sat\n(model (define-fun a.age () Int 30) (define-fun b.share () Real (/ (- 1.0) 4.0)))\n",
        b"unknown (TIMEOUT)\n",
        b"sat\n((X_0 0.25)\n (X_1 -1e-3)\n (Y_0 2))\n",
        b"sat\nX real [1,2]\n0.5\n1.5\n",
        b"sat\nx0 = 0.25\nx1 = -7\n",
    ]


def queries() -> list[bytes]:
    return [
        b"; network: net.onnx\n(declare-const X_0 Real)\n(declare-const X_1 Real)\n(declare-const Y_0 Real)\n"
        b"(assert (>= X_0 0.0))\n(assert (or (>= Y_0 4.5) (and (<= (+ Y_0 (* 2.0 X_0)) -1.0) (== X_1 7.5e0))))\n",
        b"(vnnlib-version <2.0>)\n(declare-network f (declare-input X real [1,2]) (declare-output Y real [1,1]))\n"
        b"(assert (<= X[0,0] 1.0))\n(assert (>= Y[0,0] 0.5))\n",
    ]


def instances() -> list[bytes]:
    return [
        json.dumps({"schema": "fairdsl.subset-sum/2", "question": {}, "distributions": [], "rows": []}).encode(),
        *_compiled("subset-sum"),
    ]


def jobs() -> list[bytes]:
    return [_archive("job"), _unsealed("job")]


def forest_jobs() -> list[bytes]:
    from tempfile import TemporaryDirectory

    from fairdsl.backends.leaf_boxes.job import FOREST_JOB

    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.job"
        found = _compiled("forest-job")
        assert len(found) == 2, "one score decides, and pairs of their own are compared"
        for content in tuple(found):
            path.write_bytes(content)
            found.append(_as_text(FOREST_JOB, path))
        return found


def population_jobs() -> list[bytes]:
    from fairdsl.backends.rates.job import POPULATION_JOB

    return _job_and_text("population-job", POPULATION_JOB)


def gap_jobs() -> list[bytes]:
    from fairdsl.backends.worst_pairs.job import GAP_JOB

    return _job_and_text("gap-job", GAP_JOB)


def _job_and_text(form: str, kind: Kind) -> list[bytes]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.job"
        (content,) = _compiled(form)
        path.write_bytes(content)
        return [content, _as_text(kind, path)]


def results() -> list[bytes]:
    return [_archive("result"), _unsealed("result")]


def manifests() -> list[bytes]:
    return [
        json.dumps({"schema": "fairdsl.manifest/2", "files": {}, "sha256": ""}).encode(),
        *_compiled("smtlib", "manifest.json"),
    ]


def reports() -> list[bytes]:
    return [_report()]


def ledgers() -> list[bytes]:
    from tests.fuzz.ledgers import ledgers as written

    return written()


_PAIRS = """domain A {
  sex : category { female, male }
  age : integer 18 .. 90
}
protected sex
distribution law over A
  sex : table { female: 50%, male: 50% }
  age : uniform(18, 90)
model m : A -> { no, yes }
  score = age + (sex = male) - 30
  yes when score > 0
  favourable yes
"""
_ASKS = {
    "subset-sum": "property g {\n  across sex\n  under law\n  require impact_ratio >= 80%\n}\n",
    "forest-job": "property p {\n  compare a, b : A\n  differ in sex\n  measure fair_share\n}\n"
    "property q {\n  compare a, b : A\n  differ in sex\n  within 5 in age\n  measure fair_share\n}\n",
    "gap-job": "property p {\n  compare a, b : A\n  differ in sex\n  measure max_score_gap\n}\n",
    "population-job": "property p {\n  compare a, b : A\n  differ in sex\n  under law\n  measure fair_share\n}\n",
    "": "property p {\n  compare a, b : A\n  differ in sex\n  require same decision\n}\n",
}


def _compiled(form: str, name: str = "") -> list[bytes]:
    """The files that `compile` writes for a small question."""
    from tempfile import TemporaryDirectory

    import fairdsl

    with TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.fair"
        pairs = _PAIRS if form != "forest-job" else _PAIRS.replace("age +", "3 * (age >= 30) - 2 * (age >= 60) +")
        spec.write_text(pairs + _ASKS.get(form, _ASKS[""]), encoding="utf-8")
        fairdsl.compile(spec, to=form, directory=Path(folder) / "out")
        files = sorted(file for file in (Path(folder) / "out").rglob("*") if file.is_file())
        return [file.read_bytes() for file in files if (file.name == name if name else file.name != "manifest.json")]


def _archive(kind: str) -> bytes:
    """A job, or a result of it, that solving wrote."""
    return (_GOLDEN / "E0627-too-much-claimed" / f"sex_never_decides.{kind}").read_bytes()


def _unsealed(kind: str) -> bytes:
    """The same as text, of which the reader makes a file whose digest fits."""
    from fairdsl.backends.intervals.job import JOB
    from fairdsl.backends.refining.result import RESULT

    form = JOB if kind == "job" else RESULT
    return _as_text(form, _GOLDEN / "E0627-too-much-claimed" / f"sex_never_decides.{kind}")


def _as_text(form: Kind, path: Path) -> bytes:
    """A file's header and arrays."""
    from fairdsl.backends.refining.container import unpack
    from fairdsl.codec import plain

    content = unpack(form, path)
    texts = {name: array.astype(str) if array.dtype.kind == "S" else array for name, array in content.arrays.items()}
    arrays = {name: [array.dtype.str, texts[name].tolist()] for name, array in content.arrays.items()}
    return json.dumps({"header": plain(content.head), "arrays": arrays}, indent=1).encode()


def _report() -> bytes:
    from tempfile import TemporaryDirectory

    import fairdsl

    with TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.fair"
        spec.write_text(_PAIRS + _ASKS[""], encoding="utf-8")
        return json.dumps(fairdsl.check(spec, backend="enumerate").to_json()).encode()
