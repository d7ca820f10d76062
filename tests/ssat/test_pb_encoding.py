"""``ssat.pb_encoding`` selects how weighted sums become clauses, and changes no count and no verdict."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.ssat.encode import pseudo_boolean
from fairdsl.backends.ssat.encode.pseudo_boolean import available
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.codec.numbers import ratio

WEIGHTS = (5, -3, 4, -6)
SPEC = f"""\
domain Person {{
  sex : boolean
{chr(10).join(f"  x{n} : integer 0 .. 3" for n in range(len(WEIGHTS)))}
}}
protected sex
distribution people over Person
  sex : bernoulli(0.5)
{chr(10).join(f"  x{n} : uniform(0, 3)" for n in range(len(WEIGHTS)))}
model grade : Person -> {{ no, yes }}
  score = {" + ".join(f"{weight} * x{n}" for n, weight in enumerate(WEIGHTS))} + 7 * sex
  yes when score >= 8
  favourable yes
property rates {{
  across sex
  under people
  measure statistical_parity
}}
""".replace("+ -", "- ")


def rate(sex: int) -> Fraction:
    """By counting everybody."""
    points = list(product(range(4), repeat=len(WEIGHTS)))
    sums = (sum(w * x for w, x in zip(WEIGHTS, point, strict=True)) + 7 * sex for point in points)
    return Fraction(sum(total >= 8 for total in sums), len(points))


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("grade.fair")
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.mark.skipif(not available(), reason="PySAT is not installed")
def test_counts_are_equal_across_encodings(spec: Path) -> None:
    found, files = {}, {}
    for encoding in PbEncoding:
        options = {"ssat": {"pb_encoding": encoding.value}}
        report = fairdsl.check(spec, backend="ssat", jobs=1, options=options)
        value = report.properties[0].demands[0].value
        assert value is not None
        found[encoding] = (value.low, value.high)
        compiled = fairdsl.compile(spec, to="mcc", directory=encoding.value, options=options)
        files[encoding] = {path.name: path.read_text(encoding="utf-8") for path in compiled.files}
        found[encoding] += tuple(ratio(fairdsl.solve(path, timeout=20).found.exact) for path in compiled.files)
    gap = abs(rate(1) - rate(0))
    assert {each[:2] for each in found.values()} == {(gap, gap)}
    assert len(set(found.values())) == 1
    assert len({text for each in files.values() for text in each.values()}) == sum(map(len, files.values())), "chosen"


def test_an_encoding_that_is_not_installed_is_said_before_anything_is_read(
    spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudo_boolean, "available", lambda: False)
    for ask in (
        lambda options: fairdsl.check(spec, options=options),
        lambda options: fairdsl.compile(spec, to="dimacs", directory="out", options=options),
    ):
        with pytest.raises(fairdsl.SpecError, match="PySAT is not installed") as caught:
            ask({"ssat": {"pb_encoding": "adder"}})
        assert "pip install 'fairdsl" in str(caught.value)


def test_files_that_depend_on_no_encoding_refuse_it(spec: Path) -> None:
    with pytest.raises(fairdsl.SpecError, match="such files do not depend on `ssat"):
        fairdsl.compile(spec, to="subset-sum", directory="out", options={"ssat": {"pb_encoding": "adder"}})
