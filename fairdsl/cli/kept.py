"""Reports that need no second run, in a folder that nobody but the user can write to.

A report is kept under what was asked and who answered: the command, the folder, the rules of reading, the sources of
this package, the versions of libraries, the machine. With it stand all files that the run opened (there is one door
through which files are opened) with their digests; it is taken again only if each of them is as it was.

What might come out otherwise another time is not kept: what is unknown, refused, or short of its time, black boxes,
settings of engines, engines of other packages, and answers that were read from files.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import fairdsl
from fairdsl.private_folder import is_private, make_room, private_folder
from fairdsl.report.asked import versions
from fairdsl.report.model import Report
from fairdsl.resources import prelude_files, preset_files
from fairdsl.source.reading import Noted, content_of, largest, noting, root_of, stamp_of
from fairdsl.source.writing import write_file
from fairdsl.verdict import Arithmetic, Judgement, Word

#: Raised when what is kept means something else.
_FORMAT = 1
#: Reports that are kept at most.
_MOST = 500
#: A file that was changed less than so many nanoseconds before it was opened may change again unseen.
_SETTLED = 2_000_000_000
_CERTAIN = {Judgement.HOLDS, Judgement.VIOLATED, Judgement.MEASURED, Judgement.VACUOUS}


@dataclass(slots=True)
class Kept:
    """The place of one report; None where nothing is kept."""

    place: Path | None
    _notes: list[Noted] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        spec: str,
        models: Mapping[str, str],
        data: Mapping[str, str],
        properties: Sequence[str],
        run: Mapping[str, Any],
    ) -> Kept:
        """The place of the report on these questions."""
        folder = None if os.environ.get("FAIRDSL_NO_CACHE") else private_folder("reports")
        if folder is None:
            return NOT_KEPT
        asked = [
            [_FORMAT, fairdsl.__version__, _sources(), versions(), platform.uname(), os.cpu_count()],
            [os.getcwd(), spec, root_of(spec), largest(), sorted(models.items()), sorted(data.items()), properties],
            sorted((name, str(value)) for name, value in run.items()),
        ]
        return cls(folder / f"{sha256(json.dumps(asked).encode()).hexdigest()}.report")

    def recall(self) -> Report | None:
        """The report that is kept there, if every file that it was made from is as it was."""
        if self.place is None:
            return None
        try:
            files, _, report = content_of(self.place).decode().partition("\n\n")
            for line in files.splitlines():
                digest, _, path = line.partition(" ")
                if sha256(content_of(path)).hexdigest() != digest:
                    return None
            return Report.from_json(report)
        except (OSError, ValueError):
            return None

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Within it the run opens its files."""
        with noting() as self._notes:
            yield

    def remember(self, report: Report) -> None:
        """Keep the report, if another run could not come to anything else."""
        if self.place is None or not _certain(report):
            return
        opened = {note.path: note for note in self._notes if not is_private(Path(note.path))}
        named = {report.spec.path, *(file.path for file in (*report.models, *report.data) if file.path)}
        if not named <= opened.keys() or any("\n" in path for path in opened):
            return
        with suppress(OSError):
            lines = [_digest(note) for note in opened.values()]
            if None not in lines:
                make_room(self.place.parent, _MOST)
                write_file(self.place, "\n".join(map(str, lines)) + "\n\n" + report.to_json(), flushed=False)


NOT_KEPT = Kept(None)


def _digest(note: Noted) -> str | None:
    """The digest of a file that is as it was when it was opened; None where it may have changed."""
    content = content_of(note.path)
    found = os.stat(note.path)
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    if stamp_of(found) != note.stamp or note.at - changed < _SETTLED:
        return None
    return f"{sha256(content).hexdigest()} {note.path}"


def _certain(report: Report) -> bool:
    """Whether all of it is an answer that stays one, by engines of ours on models that are read."""
    demands = [demand for item in report.properties for demand in item.demands]
    elsewhere = _of_other_packages()
    return report.ended is None and all(
        demand.judgement in _CERTAIN
        and demand.reason is None
        and demand.backend not in elsewhere
        and demand.basis is not None
        and demand.basis.word in (Word.OWN, Word.SOLVER)
        and demand.arithmetic is not Arithmetic.ANSWERS
        for demand in demands
    )


def _of_other_packages() -> Set[str]:
    """Names of engines that other packages bring: a newer version of them changes no file that a run opens."""
    from fairdsl.plan.registry import BACKENDS, engines  # whoever finds a report here needs no engine

    return engines().keys() - BACKENDS.keys()


def _sources() -> str:
    """Names, sizes and times of the package's sources, metrics and presets, which may change within a version."""
    folder = Path(fairdsl.__file__).parent
    found = sorted((str(path), path.stat()) for path in (*folder.rglob("*.py"), *prelude_files(), *preset_files()))
    return sha256(repr([(name, one.st_size, one.st_mtime_ns) for name, one in found]).encode()).hexdigest()
