"""What is believed and was not computed here: somebody's word, in a file that has a digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairdsl.codec import Upper

#: So many claims are named in a sentence; the report as JSON has all of them.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """How far a claim was recomputed: parts drawn at random by their mass, none of which failed."""

    #: How many of the parts were recomputed.
    recomputed: int
    #: How many there are.
    of: int
    #: With 99 % confidence at most this share of what the file decides is wrong; 0 where all were recomputed.
    wrong: Upper
    #: Of the random numbers.
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that a verdict rests on because a file says it."""

    #: What is said: `unsat`, `value`, `leaves`, `holds`, ...
    said: str
    #: The file that says it.
    file: str
    #: The digest of its bytes.
    sha256: str
    #: Who said it, with the version, as far as the file tells; None where it does not.
    by: str | None = None
    #: The seconds that it took, as far as the file tells.
    seconds: float | None = None
    #: How far it was recomputed here; None where it was not.
    sampled: Sampled | None = None


def in_words(claims: Sequence[Claim]) -> str:
    """The claims in a sentence without an end: what is believed of whom, in which file."""
    named = ", ".join(_one(claim) for claim in claims[:_NAMED])
    more = f" and {len(claims) - _NAMED:,} more" if len(claims) > _NAMED else ""
    return f"taken from {named}{more}"


def _one(claim: Claim) -> str:
    sampled = claim.sampled
    if sampled is not None:
        wrong = f"; at 99 % at most {_percent(sampled.wrong)} of the share is wrong" if sampled.wrong else ""
        return f"`{claim.file}`; {sampled.recomputed:,} of {sampled.of:,} {claim.said} recomputed{wrong}"
    who = claim.by or "a solver that is not named"
    took = "" if claim.seconds is None else f", {claim.seconds:g} s"
    return f"`{claim.file}` (`{claim.said}` of {who}{took}; sha256 {claim.sha256[:12]})"


def _percent(share: Upper) -> str:
    """Rounded up, to three digits behind the point."""
    return f"{float(-(-share * 100_000 // 1)) / 1000:g} %"
