"""The proofs about one network that most tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairdsl.proving import Proved
from tests.proving.proved_networks import prove


@pytest.fixture(scope="session")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Proved, ...]]:
    folder = tmp_path_factory.mktemp("proofs")
    return folder, prove(folder, 7)
