"""What tests of refinements share."""

from __future__ import annotations

import pytest

from fairdsl.backends.contract import Silent
from fairdsl.backends.intervals.warmup import compile_kernels


@pytest.fixture(scope="session", autouse=True)
def _kernels_compiled() -> None:
    """Compile the kernels before any test does it by using them: once, where several workers run tests."""
    compile_kernels(Silent())
