"""What the sizes of boxes come to: shares of what may be in question."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.verdict import Estimate, Evidence, Known, Parts, Reason, Shares, Witness

_NOTHING_KNOWN = Parts(certified=Fraction(0), falsified=Fraction(0), undecided=Fraction(1), vacuous=Fraction(0))


def shares_of(
    known: Known,
    *,
    measure: str,
    unit: str,
    evidence: Evidence,
    open_for: Reason,
    settled: bool,
    witnesses: tuple[Witness, ...] = (),
    estimate: Estimate | None = None,
) -> Shares:
    """Fractions of what may be in question; ``open_for``: why something is undecided, if it is, unless all is
    ``settled``.
    """
    whole = int(known.possible)
    undefined = Reason.UNDEFINED if not whole else None  # somebody is there, and the volume is 0
    parts = known.parts() if whole else _NOTHING_KNOWN
    return Shares(
        certified=parts.certified,
        falsified=parts.falsified,
        undecided=parts.undecided,
        vacuous=parts.vacuous,
        measure=measure,
        unit=unit,
        evidence=evidence,
        witnesses=witnesses,
        total=whole if measure == "counting" and settled else None,
        reason=undefined or (open_for if known.undecided else None),
        estimate=estimate,
    )
