"""What all tests of rates share."""

from __future__ import annotations

import pytest

from fairdsl.backends.rates import job


@pytest.fixture(autouse=True)
def small_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of jobs that are shared out begin early, so that small ones are shared out as well."""
    monkeypatch.setattr(job, "_SEED_BOXES", 4)
