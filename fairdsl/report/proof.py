"""What a report says of the proof that stands beside a verdict (docs/proofs.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fairdsl.codec import INLINE, Lower, Upper
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.verdict import Arithmetic, Judgement, judge, share_value

if TYPE_CHECKING:
    from fairdsl.report.model import DemandReport, PropertyReport

#: Who checks proofs.
CHECKER = "fairdsl-verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofFile:
    """A proof of a demand, and what the checker made of it."""

    #: Where it lies.
    path: str
    #: The digest of its bytes.
    sha256: str
    #: The digest of the closed question, which the checker prints.
    question: str
    #: Who checked it.
    checker: str
    #: Whether all that it claims follows.
    verified: bool
    #: What the checker reached, or why it rejected the proof.
    said: str
    #: At least so large a part is fair, as the checker reached.
    certified: Lower
    #: At least so large a part is not.
    falsified: Lower
    #: Whether everybody who is compared gets the same decision.
    holds: bool
    #: A metric of groups; None where the proof is about pairs.
    number: Annotated[Enclosure | None, INLINE] = None
    #: How far off a score may be in float32, where the proof is about the deployed file as well; else None.
    margin: Upper | None = None

    def shows(self, quantity: Quantity, threshold: Threshold | None) -> bool:
        """Whether the demand holds by what was checked; of a measure, whether its number was bounded at all."""
        if quantity is Quantity.HOLDS:
            return self.verified and self.holds
        if threshold is None:
            return self.verified
        if quantity is not Quantity.METRIC:
            number = share_value(Enclosure(low=self.certified, high=1 - self.falsified), quantity)
        elif self.number is not None:
            number = self.number
        else:
            return False
        return self.verified and judge(number, threshold.relation, threshold.limit) is Judgement.HOLDS

    def in_words(self) -> str:
        """As a report says it."""
        file = "" if self.margin is None else f", in float32 too, with scores off by up to {float(self.margin):.3g}"
        result = f"{'verified' if self.verified else 'rejected'} by {self.checker}: {self.said}{file}"
        return f"{self.path}, sha256 {self.sha256}, of the question {self.question}; {result}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFile:
    """What a solver was asked."""

    #: Where it lies.
    path: str
    #: The digest of its bytes.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """What a demand rests on that holds by a solver's word and by no checked proof."""

    #: The engine that asked it.
    solver: str
    #: How it answered.
    method: str
    #: What it was asked, in files that any other solver reads; none where no file asks it.
    queries: tuple[QueryFile, ...] = ()

    def in_words(self) -> str:
        """As a report says it."""
        told = "; ".join(f"{each.path}, sha256 {each.sha256}" for each in self.queries) or "of no file"
        return f"{self.solver} ({self.method}); query {told}"


def unproved(properties: Iterable[PropertyReport]) -> list[str]:
    """The demands that hold, or that were measured, of which no checked proof shows as much, and what is missing."""
    found = ((item.name, demand.text, _missing(demand)) for item in properties for demand in item.demands)
    return [f"{name}, {text}: {missing}" for name, text, missing in found if missing]


def _missing(demand: DemandReport) -> str:
    """What proofs leave open of a verdict; nothing where one shows all of it, and where there is nothing to show."""
    if demand.judgement not in (Judgement.HOLDS, Judgement.MEASURED):
        return ""
    if demand.proof is None or not demand.proof.shows(demand.quantity, demand.threshold):
        return "no checked proof shows it"
    if demand.arithmetic is Arithmetic.DEPLOYED and demand.proof.margin is None:
        return "the verdict is about the deployed file's arithmetic too, and its proof about exact arithmetic alone"
    return ""
