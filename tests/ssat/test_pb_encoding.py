"""``ssat.pb_encoding`` selects how weighted sums become clauses, and changes no count and no verdict."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.codec.numbers import ratio

WEIGHTS = (5, -3, 4)
SPEC = f"""\
domain Person {{
  sex : boolean
{chr(10).join(f"  x{n} : integer 0 .. 2" for n in range(len(WEIGHTS)))}
}}
protected sex
distribution people over Person
  sex : bernoulli(0.5)
{chr(10).join(f"  x{n} : uniform(0, 2)" for n in range(len(WEIGHTS)))}
model grade : Person -> {{ no, yes }}
  score = {" + ".join(f"{weight} * x{n}" for n, weight in enumerate(WEIGHTS))} + 7 * sex
  yes when score >= 6
  favourable yes
property rates {{
  across sex
  under people
  measure parity_gap
}}
""".replace("+ -", "- ")


def rate(sex: int) -> Fraction:
    """By counting everybody."""
    points = list(product(range(3), repeat=len(WEIGHTS)))
    sums = (sum(w * x for w, x in zip(WEIGHTS, point, strict=True)) + 7 * sex for point in points)
    return Fraction(sum(total >= 6 for total in sums), len(points))


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("grade.fair")
    path.write_text(SPEC, encoding="utf-8")
    return path


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
        for path in compiled.files:
            solved = fairdsl.solve(path, timeout=20)
            path.with_name(f"{path.name}.answer").write_text(solved.to_json(), encoding="utf-8")
            found[encoding] += (ratio(solved.found.number.low),)
        recovered = fairdsl.recover(encoding.value).properties[0].demands[0].value
        assert recovered is not None
        assert (recovered.low, recovered.high) == (value.low, value.high)
    gap = abs(rate(1) - rate(0))
    assert {each[:2] for each in found.values()} == {(gap, gap)}
    assert len(set(found.values())) == 1
    assert len({text for each in files.values() for text in each.values()}) == sum(map(len, files.values())), "chosen"


def test_files_that_depend_on_no_encoding_refuse_it(spec: Path) -> None:
    with pytest.raises(fairdsl.SpecError, match="such files do not depend on `ssat"):
        fairdsl.compile(spec, to="subset-sum", directory="out", options={"ssat": {"pb_encoding": "adder"}})
