"""The way of a spec from its text to a verdict goes through each package once, and none is gone back to."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import fairdsl
from tests.modules import PACKAGE

SPEC = """\
fair 1

domain Person {
  sex : category { female, male }
  age : integer 0 .. 9
}

protected sex

model approve : Person -> { no, yes }
  score = age
  yes when score >= 5
  favourable yes

property alike {
  compare a, b : Person
  differ in sex
  require same decision
}
"""
#: What the pipeline calls of each package on the way, and how often, in this order.
WAY = ["semantics.front_end", "elaborate.elaborate", "plan.shared", "plan.in_turn"]


def _package(frame: FrameType | None) -> tuple[str, str] | None:
    """Whose code runs, and which function; None outside of the package."""
    if frame is None or not Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
        return None
    return Path(frame.f_code.co_filename).relative_to(PACKAGE).parts[0].removesuffix(".py"), frame.f_code.co_name


def test_the_pipeline_enters_each_package_once_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "p.fair").write_text(SPEC)
    called: list[str] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        callee, caller = (_package(frame), _package(frame.f_back)) if event == "call" else (None, None)
        if callee is not None and caller is not None and caller[0] == "pipeline" and callee[0] != "pipeline":
            called.append(".".join(callee))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        report = fairdsl.check(str(tmp_path / "p.fair"))
    finally:
        sys.setprofile(before)
    assert [each.judgement.value for each in report.properties] == ["holds"]
    assert [name for name in called if name in WAY] == WAY
    packages = [name.partition(".")[0] for name in called]
    read = packages.index("elaborate")
    assert not {"syntax", "models"} & {*packages}, "only the packages on the way ask those below them"
    # The spec is data once it is read: all that is done with it is to take the properties that are asked for.
    assert {name for name in called if name.startswith("semantics.")} == {
        "semantics.front_end",
        "semantics.restricted_to",
    }
    assert "semantics" not in packages[read:]
    assert "elaborate" not in packages[read + 1 :]
    assert packages[-1] == "report"
