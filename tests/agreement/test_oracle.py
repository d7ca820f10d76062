"""Every engine against the definitions, on random small problems."""

from __future__ import annotations

from hypothesis import settings

from tests.agreement.engines import ENGINES, hold_all
from tests.strategies import problems

#: Random problems that every engine is asked, at least.
EXAMPLES = 500


def test_all_engines_agree_with_the_oracle() -> None:
    """Unknown neither agrees nor disagrees, but it is counted: more than a fifth is a failure."""
    for name, counted in hold_all(ENGINES, problems(), max(EXAMPLES, settings.default.max_examples)).items():
        asked = counted["answered"] + counted["unknown"]
        # Half-spaces treat decisions, and models that read conditions on one attribute at a time.
        assert counted["refused"] <= (0.6 * (asked + counted["refused"]) if name == "intervals" else 0), name
        assert name == "search" or counted["unknown"] <= 0.2 * asked, name
