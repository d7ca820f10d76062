"""What a run was asked and what it ran with, for whoever wants to make its report again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from platform import python_version
from typing import Annotated

from fairdsl.codec import KEYED
from fairdsl.options import Options, declared
from fairdsl.resources import version

#: The libraries that verdicts may rest on.
_LIBRARIES = ("highspy", "numpy", "onnx", "onnxruntime", "z3-solver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a run was given beside the spec and the seed, and what it ran with: whoever asks the same repeats it."""

    #: The time limit in seconds; None: none.
    timeout: float | None
    #: The limit on effort, in units; None: none.
    effort: int | None = None
    #: The only backend that was to answer; None: all.
    backend: str | None = None
    #: Whether other backends were asked, too.
    cross_check: bool = False
    #: The solvers of others that were asked for second opinions, as they were named.
    also: tuple[str, ...] = ()
    #: The properties that were asked for, where they are not all of the spec's.
    properties: tuple[str, ...] = ()
    #: Files that replaced those of the spec's models, by name.
    models: Annotated[tuple[tuple[str, str], ...], KEYED] = ()
    #: Numbers that replaced those of the spec's parameters, by name.
    let: Annotated[tuple[tuple[str, str], ...], KEYED] = ()
    #: Files that replaced those of distributions, by name.
    data: Annotated[tuple[tuple[str, str], ...], KEYED] = ()
    #: What was set for engines, by path.
    settings: Annotated[tuple[tuple[str, str], ...], KEYED] = ()
    #: The versions of Python and of the libraries that verdicts may rest on.
    versions: Annotated[tuple[tuple[str, str], ...], KEYED] = ()

    def command(self, spec: str, seed: int) -> str:
        """The command that makes the report again."""
        words = ["fairdsl", "check", spec]
        words += [word for name in self.properties for word in ("--property", name)]
        words += [word for name, path in self.models for word in ("--model", f"{name}={path}")]
        words += [word for name, number in self.let for word in ("--let", f"{name}={number}")]
        words += [word for name, path in self.data for word in ("--data", f"{name}={path}")]
        words += ["--backend", self.backend] if self.backend else []
        words += ["--cross-check"] if self.cross_check else []
        words += [word for text in self.also for word in ("--also", text)]
        words += [word for path, value in self.settings for word in ("--set", f"{path}={value}")]
        words += ["--seed", str(seed)]
        words += ["--timeout", f"{self.timeout:g}"] if self.timeout is not None else []
        return shlex.join([*words, *(["--effort", str(self.effort)] if self.effort is not None else [])])


def asked_of(
    options: Options,
    models: Mapping[str, str],
    data: Mapping[str, str] | None,
    properties: Sequence[str],
    let: Mapping[str, str] | None = None,
) -> Asked:
    """All that was set, in the words of the command line."""
    settings = [
        (option.path, option.kind.show(getattr(section, option.name)))
        for section in options.sections
        for option in declared(type(section))
        if option.path in section.given and getattr(section, option.name) is not None
    ]
    return Asked(
        timeout=None if options.run.limit == inf else options.run.limit,
        effort=options.run.effort,
        backend=options.run.backend,
        cross_check=options.run.cross_check,
        properties=tuple(properties),
        models=tuple(models.items()),
        let=tuple((let or {}).items()),
        data=tuple((data or {}).items()),
        settings=tuple(settings),
        versions=versions(),
    )


def versions() -> tuple[tuple[str, str], ...]:
    """The versions of Python and of the libraries that verdicts may rest on."""
    return ("Python", python_version()), *((name, version(name)) for name in _LIBRARIES)
