"""Which files a report is about, by digest: a verdict is about these bytes and no others."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePath

from fairdsl.ir.agreement import Agreement
from fairdsl.ir.declaration import FileSource
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.report.model import HashedFile, SpecFile
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.source.reading import content_of


def spec_file(spec: CheckedSpec, path: str) -> SpecFile:
    """The spec, which is read at ``path``, and the files that it uses."""
    folder = os.path.dirname(spec.source.path) or os.curdir
    uses = tuple(
        HashedFile(
            name=PurePath(os.path.relpath(file.path, folder)).as_posix(),
            path=file.path,
            sha256=file.sha256,
        )
        for file in spec.used
    )
    return SpecFile(path=path, sha256=spec.source.sha256, uses=uses or None)


def hashed_models(
    spec: CheckedSpec,
    opened: Mapping[str, Model],
    overrides: Mapping[str, str],
    agreements: Mapping[str, Agreement] | None = None,
) -> tuple[HashedFile, ...]:
    """Every model that a property is about; models written in the spec, and functions, have no file of their own.

    ``agreements`` are those with recorded decisions, by the models' names.
    """
    held = agreements or {}
    overrides = spec.of_variants(overrides)
    hashed: list[HashedFile] = []
    for name in dict.fromkeys(name for checked in spec.properties for name in checked.models):
        box = opened[name].opaque if name in opened else None
        if isinstance(box, BlackBox) and box.call is not None:
            hashed.append(HashedFile(name=name, path=None, sha256=None, function=True, agreement=held.get(name)))
            continue
        source = spec.models[name].declaration.source if name in spec.models else None  # None: that of an instance
        path = overrides.get(name, source.path) if isinstance(source, FileSource) else None
        digest = opened[name].sha256 if name in opened else _digest(path)
        model = opened.get(name)
        hashed.append(
            HashedFile(
                name=name,
                path=path,
                sha256=digest,
                binding=None if model is None else model.binding,
                reading=None if model is None else model.reading,
                agreement=held.get(name),
            )
        )
    return tuple(hashed)


def hashed_data(spec: CheckedSpec, overrides: Mapping[str, str] | None = None) -> tuple[HashedFile, ...]:
    """The files of the distributions; those in ``overrides`` were read instead, by the distribution's name."""
    replaced = overrides or {}
    files = (
        (name, replaced.get(name, distribution.source.path))
        for name, distribution in spec.distributions.items()
        if distribution.source
    )
    return tuple(HashedFile(name=name, path=path, sha256=_digest(path)) for name, path in files)


def _digest(path: str | None) -> str | None:
    """None for a file that cannot be read: then nothing was said about it either."""
    if path is None:
        return None
    try:
        return sha256(content_of(path)).hexdigest()
    except OSError:
        return None
