"""``python -m tests.fuzz.guided bif -max_total_time=600``: one reader, its inputs chosen by the code that they reach.

Needs Atheris (``pip install atheris``), which not every platform has. What follows the reader's name are options of
libFuzzer. It begins with the documents of the everyday session and what once broke the reader; what it learns lies in
``crashers/READER/reached``, from which the next session goes on, and an input that ends badly in ``crashers/READER``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["fairdsl"]):
    from tests.fuzz import documents
    from tests.fuzz.readers import READERS


def main() -> None:
    """Fuzz until libFuzzer ends, by its limits or by an input that ends badly."""
    name, *limits = sys.argv[1:] or [""]
    reader = next((reader for reader in READERS if reader.name == name), None)
    if reader is None:
        sys.exit(f"no reader `{name}`; there are {', '.join(reader.name for reader in READERS)}")
    crashers = Path("crashers", name).resolve()
    reached = crashers / "reached"
    reached.mkdir(parents=True, exist_ok=True)
    for content in (*reader.begins(), *documents.corpus(name)):
        (reached / sha256(content).hexdigest()[:16]).write_bytes(content)

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        here = Path(folder)
        with atheris.instrument_imports(include=["fairdsl"]):  # what is imported when it is first called
            reader.read(reader.begins()[0], here)
        options = [f"-artifact_prefix={crashers}/", "-timeout=10", "-rss_limit_mb=1024", *limits, str(reached)]
        atheris.Setup([name, *options], lambda content: reader.read(content, here))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
