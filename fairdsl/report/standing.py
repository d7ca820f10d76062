"""What a verdict is worth, in a word and in a sentence: proved, counted, shown, estimated, assumed, or claimed."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from fairdsl.ir.numbers import shown
from fairdsl.report.model import DemandReport
from fairdsl.report.words import because, replayed
from fairdsl.verdict import Arithmetic, Basis, Holds, Judgement, Shares, Vacuous, Value, Violated, Word


class Standing(Enum):
    """What kind of claim it is; the value is a sign that tells it apart without colour, and what it means."""

    PROVED = ("\N{CHECK MARK}", "a proof covers everybody in question")
    COUNTED = ("#", "nobody in question was left out, and nothing was estimated")
    COMPUTED = ("=", "the probabilities were computed, exactly or between bounds that are certain")
    SHOWN = ("!", "somebody for whom it fails was found, and replayed on the original model")
    ESTIMATED = ("\N{ALMOST EQUAL TO}", "a random sample says so, with a confidence below 100%")
    ASSUMED = ("?", "it rests on something that nobody checked, such as a model of the population")
    CLAIMED = ("\N{RIGHT DOUBLE QUOTATION MARK}", "files that somebody else made say so")
    OPEN = ("\N{HORIZONTAL ELLIPSIS}", "it is not known")

    @property
    def word(self) -> str:
        """``proved``."""
        return self.name.lower()

    @property
    def sign(self) -> str:
        """A character that stands for it."""
        return self.value[0]

    @property
    def meaning(self) -> str:
        """What it means, in a clause."""
        return self.value[1]


def standings(demand: DemandReport) -> tuple[Standing, ...]:
    """What kinds of claims a demand's verdict is made of, the leading one first; none of what was refused."""
    found = demand.basis
    if found is None:
        return (Standing.OPEN,) if demand.judgement is Judgement.UNKNOWN else ()
    if demand.judgement is Judgement.UNKNOWN:
        return (Standing.OPEN, Standing.ESTIMATED) if demand.estimate is not None else (Standing.OPEN,)
    kinds = [_leading(demand, found)]
    if _by_sample(demand):
        kinds.append(Standing.ESTIMATED)
    if (found.distribution is not None and not found.counted) or found.word is Word.SOLVER:
        kinds.append(Standing.ASSUMED)
    return tuple(dict.fromkeys(kinds))


def _leading(demand: DemandReport, found: Basis) -> Standing:
    if found.word is Word.FILES:
        return Standing.CLAIMED
    if found.arithmetic is Arithmetic.ESTIMATE:
        return Standing.ESTIMATED
    match demand.verdict:
        case Violated():
            return Standing.SHOWN
        case Holds() | Vacuous():
            return Standing.PROVED
        case Shares(undecided=open_, total=total):
            return Standing.COUNTED if found.counted or (open_ == 0 and total is not None) else Standing.PROVED
    return Standing.COUNTED if found.counted else Standing.COMPUTED


def _by_sample(demand: DemandReport) -> bool:
    """Whether a random sample takes part in the verdict, or stands beside it."""
    return demand.estimate is not None or (isinstance(demand.verdict, Value) and demand.verdict.confidence is not None)


def resting(demand: DemandReport) -> str:
    """What the verdict rests on, in one sentence for people who were not there."""
    found = demand.basis
    if demand.judgement is Judgement.UNKNOWN and demand.reason is not None:
        return _sentence(because(demand.reason, external=demand.external))
    if found is None:
        return "" if not demand.refusals else _sentence(f"it was not tried: {demand.refusals[0].title}")
    said = [_SENTENCES[kind] for kind in standings(demand)[:1] if kind in _SENTENCES]
    return " ".join([*(said or [_of(demand, found)]), *_assumed(demand, found)])


_SENTENCES = {Standing.CLAIMED: "Files that somebody else made say so, and nothing of it was checked here."}


def _of(demand: DemandReport, found: Basis) -> str:
    match standings(demand)[0]:
        case Standing.PROVED:
            what = "Bounds were proved" if demand.shares is not None else "A proof covers everybody in question"
            return f"{what}{_ARITHMETIC.get(found.arithmetic, '')}{_unrounded(found)}."
        case Standing.COUNTED if found.counted and found.rows is not None:
            beyond = "" if _by_sample(demand) else "; it says nothing of anybody else"
            return f"Counted over {found.rows.rows:,} rows of {found.rows.path}{beyond}."
        case Standing.COUNTED:
            return (
                "Everybody in question was decided; each combination of values counts once, so it is a share of "
                "what is possible and not of people."
            )
        case Standing.SHOWN:
            shown_here = len(demand.breaches[0].individuals) if demand.breaches else 2
            who = ("an individual shows", "two individuals show", "three individuals show", "four individuals show")
            return _sentence(f"{who[shown_here - 1]} it: {replayed(demand)}")
        case Standing.ESTIMATED:
            sample = demand.estimate
            many = "" if sample is None else f" {sample.sampled:,}"
            sure = "" if sample is None else f", right with {shown(sample.confidence, percent=True)} confidence"
            return f"Estimated from{many} individuals drawn at random; no proof{sure}."
    return f"The probabilities were computed{_ARITHMETIC.get(found.arithmetic, '')}{_unrounded(found)}."


_ARITHMETIC = {
    Arithmetic.EXACT: " in exact arithmetic",
    Arithmetic.DEPLOYED: ", with the rounding of the deployed file included",
    Arithmetic.ANSWERS: " from the model's own answers",
    Arithmetic.APPROXIMATE: " under an approximate distribution, whose bins are the means of their rows",
}


def _unrounded(found: Basis) -> str:
    exact = found.arithmetic is Arithmetic.EXACT and found.reading is not None
    return "; how the deployed file rounds is not covered" if exact else ""


def _assumed(demand: DemandReport, found: Basis) -> list[str]:
    """What has to be believed beside."""
    said = []
    if demand.judgement is not Judgement.UNKNOWN and found.word is Word.SOLVER:
        said.append("The solver is taken at its word.")
    if found.distribution is not None and not found.counted:
        rows = found.rows
        made = "as the spec writes it" if rows is None else f"estimated from {rows.rows:,} rows of {rows.path}"
        said.append(f"It is about people as the distribution `{found.distribution}` has them, {made}.")
    value = demand.verdict
    if isinstance(value, Value) and value.confidence is not None:
        sure: Fraction = value.confidence
        said.append(f"The error of sampling is included, with {shown(sure, percent=True)} confidence.")
    if demand.estimate is not None and standings(demand)[0] is not Standing.ESTIMATED:
        said.append("The estimate beside it proves nothing.")
    return said


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
