"""``fairdsl`` with the plain refinement of the tests, for processes that are to be killed."""

from __future__ import annotations

from fairdsl.__main__ import main
from fairdsl.backends.intervals import jobs
from tests.intervals.bisection import SlowBisection

if __name__ == "__main__":
    jobs.Refinement = SlowBisection  # type: ignore[misc]
    main()
