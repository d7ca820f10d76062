"""``pytest --fair`` collects ``.fair`` files: each property is a test.

A property that is violated fails, and so does one that is refused, unknown or about nobody: nothing was shown.
Nothing of fairdsl is imported before there is a file to collect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest


class UnfairError(Exception):
    """A property that did not hold, with its report as text."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--fair``, also as ``fair = true`` in the configuration, and how long a property may take."""
    group = parser.getgroup("fairdsl")
    group.addoption("--fair", action="store_true", help="collect .fair files: each property is a test")
    group.addoption("--fair-timeout", type=float, metavar="SECONDS", help="time limit for each property")
    parser.addini("fair", type="bool", default=False, help="collect .fair files: each property is a test")
    parser.addini("fair_timeout", default="60", help="time limit in seconds for each property")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for each ``.fair`` file, where they are asked for."""
    asked = parent.config.getoption("--fair") or parent.config.getini("fair")
    if file_path.suffix != ".fair" or not asked:
        return None
    found: pytest.Collector = FairFile.from_parent(parent, path=file_path)
    return found


class FairFile(pytest.File):
    """A spec, whose properties are tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each property; a spec with mistakes cannot be collected."""
        import fairdsl

        try:
            properties = fairdsl.explain(self.path).properties
        except fairdsl.SpecError as error:
            raise self.CollectError(str(error)) from error
        for item in properties:
            yield FairItem.from_parent(self, name=item.name)


class FairItem(pytest.Item):
    """A property."""

    #: No fixtures, as of a doctest. Hooks of other plugins (pytest-lsp) ask every item for them, and fail without.
    funcargs: Mapping[str, object] = MappingProxyType({})

    def runtest(self) -> None:
        """Check it; what it measures passes."""
        import fairdsl
        from fairdsl.report.model import ExitCode
        from fairdsl.report.sentences import plain
        from fairdsl.report.text import render

        given = self.config.getoption("--fair-timeout")
        seconds = float(self.config.getini("fair_timeout")) if given is None else given
        report = fairdsl.check(self.path, properties=[self.name], timeout=seconds)
        if report.exit_code is not ExitCode.HOLDS:
            (item,) = report.properties
            # The first line is the one in pytest's summary.
            leading = next((demand for demand in item.demands if demand.judgement is item.judgement), item.demands[0])
            raise UnfairError(f"{item.judgement.value}: {plain(leading)}\n\n{render(report)}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report; of mistakes what they are, and of anything else the trace."""
        import fairdsl

        if isinstance(excinfo.value, UnfairError | fairdsl.SpecError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The spec's file and the property."""
        return self.path, None, f"{self.path.name}::{self.name}"
