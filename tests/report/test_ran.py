"""How a run went, in words."""

from __future__ import annotations

from fairdsl.report.ran import EndedBy, Ran


def test_one_of_a_kind_is_no_plural() -> None:
    ran = Ran(
        timeout=None,
        effort=1,
        ended_by=EndedBy.EFFORT,
        spent=1,
        work=(("pairs replayed", 1), ("boxes weighed", 1), ("clauses written or read", 2)),
        jobs=1,
        platform="any",
    )
    assert ran.in_words == (
        "ended by the effort, of 1 unit of effort; 1 unit spent: "
        "2 clauses written or read, 1 pair replayed, 1 box weighed"
    )
