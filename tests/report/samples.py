"""A domain, verdicts about it and a report with one property of every kind."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer, Real
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report, SpecFile
from fairdsl.verdict import (
    Estimate,
    Evidence,
    Fidelity,
    Holds,
    Individual,
    Interval,
    Reason,
    Refused,
    Region,
    Replay,
    Shares,
    Unknown,
    Value,
    Verdict,
    Violated,
    Witness,
)

F = Fraction

DOMAIN = Domain(
    name="Applicant",
    attributes=(
        Attribute(
            name="status",
            type=Category(values=(CategoryValue(name="none", code=0), CategoryValue(name="some", code=4))),
        ),
        Attribute(name="month", type=Integer(low=0, high=80)),
        Attribute(name="income", type=Real(low=None, high=None)),
        Attribute(name="sex", type=Category(values=(CategoryValue(name="f", code=0), CategoryValue(name="m", code=1)))),
        Attribute(name="foreign", type=Boolean()),
    ),
    where=TRUE,
)
EVIDENCE = Evidence(backend="enumerate", method="every individual of the domain")
SAME = "require approve(a) = approve(b)"
CLAUSES = (
    "compare a, b : Applicant",
    "differ in sex",
    "within 2 in month",
    "equal in a and b: status, income, foreign",
)


def witness(*, float32: bool = True, month: int = 14) -> Witness:
    replay = Replay(
        exact=True,
        float32=float32,
        scores_a=(F(5, 4),),
        scores_b=(F(-1, 3),),
        decision_a="grant",
        decision_b="reject",
        float32_decisions=("grant", "reject") if float32 else ("grant", "grant"),
    )
    a, b = (F(4), F(12), F(1, 3), F(0), F(1)), (F(4), F(month), F(1, 3), F(1), F(1))
    return Witness(a=Individual.of(DOMAIN, a), b=Individual.of(DOMAIN, b), replay=replay)


def shares(certified: F, falsified: F, **more: object) -> Shares:
    return Shares(
        certified=certified,
        falsified=falsified,
        undecided=1 - certified - falsified,
        vacuous=F(1, 31),
        measure="counting",
        unit="everything but sex",
        evidence=EVIDENCE,
        **more,  # type: ignore[arg-type]
    )


def at_least(text: str) -> Threshold:
    percent = text.endswith("%")
    return Threshold(relation=Relation.GE, limit=F(text.rstrip("%")) / (100 if percent else 1), text=text)


def demand(
    verdict: Verdict,
    *,
    text: str = SAME,
    metric: str = "same_decision",
    quantity: Quantity = Quantity.HOLDS,
    threshold: Threshold | None = None,
    seconds: float = 2.14,
) -> DemandReport:
    return DemandReport(
        text=text,
        metric=metric,
        quantity=quantity,
        threshold=threshold,
        verdict=verdict,
        seconds=seconds,
    )


def share_demand(verdict: Verdict, limit: str | None, *, rate: bool = False) -> DemandReport:
    metric = "discrimination_rate" if rate else "fair_share"
    return demand(
        verdict,
        text=f"measure {metric}" if limit is None else f"require {metric} >= {limit}",
        metric=metric,
        quantity=Quantity.DISCRIMINATION_RATE if rate else Quantity.FAIR_SHARE,
        threshold=None if limit is None else at_least(limit),
    )


REFUSAL = Diagnostic(
    code="E0601",
    title="no backend can answer `impact_ratio`",
    notes=("smt         no, it has no notion of probability", "enumerate   no, 2^31 points"),
    help="write `bins at` after `income`",
)
PROVED = Evidence(backend="smt", method="two copies in z3", fidelity=Fidelity.WIDENS, notes=("12 of 16 units folded",))
UNSETTLED = Unknown(reason=Reason.TIMEOUT, detail="3 of 8 parts are proved", evidence=PROVED)
GAP = Unknown(
    reason=Reason.NUMERIC_GAP,
    detail="the exact score of `a` is 0",
    evidence=EVIDENCE,
    witnesses=(witness(float32=False),),
)


SAMPLED = Estimate(
    sampled=100_000, unfair=3400, interval=Enclosure(low=F(9648, 10000), high=F(9672, 10000)), confidence=F(95, 100)
)
REGIONS = (
    Region(
        restricted={"month": Interval(F(17), F(25)), "status": ("none", "some")},
        share=F(1, 8),
        falsified=F(12, 1000),
        undecided=F(83, 1000),
    ),
    Region(
        restricted={
            "foreign": (True,),
            "income": Interval(F(1, 3), F(7, 2)),
            "month": Interval(F(80), F(80)),
        },
        share=F(1, 80),
        falsified=F(0),
        undecided=F(1, 100),
    ),
    Region(restricted={}, share=F(1), falsified=F(2, 100), undecided=F(109, 1000)),
)
PARTLY = shares(
    F(871, 1000), F(20, 1000), float32_certified=F(87, 100), estimate=SAMPLED, regions=REGIONS, reason=Reason.TIMEOUT
)


def _property(name: str, sentence: str, *demands: DemandReport) -> PropertyReport:
    return PropertyReport(name=name, sentence=sentence, clauses=CLAUSES, demands=demands)


REPORT = Report(
    fairdsl="0.1.0",
    audit="A small credit network",
    spec=SpecFile(path="credit.fair", sha256="ab" * 32),
    models=(
        HashedFile(name="approve", path="approve.onnx", sha256="12" * 32),
        HashedFile(name="rule", path=None, sha256=None),
    ),
    seed=7,
    properties=(
        _property(
            "sex_decides",
            "Changing sex alone never changes the decision",
            demand(Violated(witnesses=(witness(),), evidence=EVIDENCE)),
        ),
        _property("proved", "", demand(Holds(evidence=PROVED))),
        _property(
            "both",
            "",
            demand(Holds(evidence=PROVED)),
            share_demand(shares(F(24, 30), F(6, 30), total=30), "95%"),
            share_demand(shares(F(24, 30), F(3, 30), total=30), None),
        ),
        _property(
            "twice",
            "",
            demand(Violated(witnesses=(witness(), witness(month=13)), evidence=PROVED)),
            share_demand(shares(F(24, 30), F(6, 30), witnesses=(witness(month=15),), total=30), "95%"),
        ),
        _property("partly", "", share_demand(PARTLY, "95%")),
        _property("straddled", "", share_demand(shares(F(94, 100), F(1, 30)), "95%")),
        _property("late", "", demand(UNSETTLED)),
        _property("gap", "", demand(GAP)),
        _property("measured", "", share_demand(shares(1 - F(1, 10**10), F(1, 10**10)), None)),
        _property(
            "four_fifths",
            "",
            demand(
                Value(number=Enclosure.exactly(F(6132, 10000)), evidence=EVIDENCE),
                text="require impact_ratio >= 0.80",
                metric="impact_ratio",
                quantity=Quantity.METRIC,
                threshold=at_least("0.80"),
            ),
        ),
        _property("refused", "", demand(Refused(diagnostics=(REFUSAL,)))),
    ),
    diagnostics=(Diagnostic(code="W0801", title="`age` is never used"),),
)
