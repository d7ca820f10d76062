"""What the tests of the examples share: scripts that write elsewhere, specs that are in order, exact values."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import fairdsl
from fairdsl.source import SourceFile
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse


def script_of(example: Path, name: str, folder: Path) -> ModuleType:
    """A script of the example that writes to another folder."""
    specification = importlib.util.spec_from_file_location(f"{example.name}_{name}", example / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.HERE = folder  # type: ignore[attr-defined]
    return module


def assert_in_order(spec: Path) -> None:
    """The spec is laid out as ``fmt`` would, and free of findings."""
    text = spec.read_text(encoding="utf-8")
    read = parse(SourceFile(str(spec), text))
    assert read.spec is not None
    assert format_spec(read.spec) == text
    assert not fairdsl.lint(spec)


def exact_value(report: fairdsl.Report, name: str) -> Fraction:
    """The exact value of a property's first demand."""
    (found,) = [checked for checked in report.properties if checked.name == name]
    interval = found.demands[0].value
    assert interval is not None
    assert interval.exact is not None
    return interval.exact
