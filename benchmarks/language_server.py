"""How long an editor waits for findings: a session with the real server, one keystroke at a time.

    python benchmarks/language_server.py [--lines 1000] [--keystrokes 200] [--alone]

types into the middle of a spec of so many lines and takes the time from each change to the findings about it. With
`--alone` it takes the processor's time for the same findings in this process, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

from lsprotocol import types
from pygls.lsp.client import LanguageClient

HEAD = """\
domain Applicant {
  savings : integer 0 .. 80
  duration : integer 4 .. 72
  job : category { none, unskilled, skilled, manager }
  sex : category { female, male }
  age : integer 18 .. 75
}
protected sex, age
model approve : Applicant -> { reject, grant }
  score = savings - duration + 2 * (job = skilled) + 3 * (job = manager)
  grant when score > 0
  favourable grant
distribution people over Applicant
  empirical from "people.csv"
"""
BLOCKS = (
    'property alike_{n} "Sex alone changes nothing, {n}" {{\n  compare a, b : Applicant\n  differ in sex\n'
    "  among duration <= 24 and job in {{ skilled, manager }}\n  require same decision\n}}\n",
    "## How many are treated alike.\nproperty share_{n} {{\n  compare a, b : Applicant\n  differ in any sex, age\n"
    "  within 5 in savings\n  measure fair_share\n}}\n",
    "property groups_{n} {{\n  across sex\n  under people\n  excluding groups below {n} rows\n"
    "  require impact_ratio >= 80%\n  measure parity_gap\n}}\n",
)
TYPED = "  among age >= 30 and (savings > 10 or job = none)\n"


def spec_of(lines: int) -> str:
    """A spec with about so many lines, of all kinds of properties in turn."""
    text, number = HEAD, 1
    while text.count("\n") < lines:
        text += "\n" + BLOCKS[number % len(BLOCKS)].format(n=number)
        number += 1
    return text


def typed_into(text: str, keystrokes: int) -> Iterator[str]:
    """The text after each keystroke, of lines that are typed at random places."""
    dice, done = random.Random(1), 0
    places = [at for at in range(len(text)) if text.startswith("  compare a, b", at)]
    while True:
        at = dice.choice(places)
        for end in range(1, len(TYPED) + 1):
            if done == keystrokes:
                return
            done += 1
            yield text[:at] + TYPED[:end] + text[at:]


def alone(text: str, keystrokes: int) -> list[float]:
    """Processor seconds of the findings after each keystroke."""
    from fairdsl.lsp.desk import Desk
    from fairdsl.lsp.findings import by_file

    path = str(Path(tempfile.gettempdir()) / "typed.fair")
    desk, seconds = Desk(), []
    gc.disable()
    for typed in (text, *typed_into(text, keystrokes)):
        began = time.process_time()
        desk.put(Path(path).as_uri(), 1, typed)
        by_file(desk, desk.seen(path))
        seconds.append(time.process_time() - began)
        gc.collect(0)
    return seconds[1:]


async def session(text: str, keystrokes: int) -> list[float]:
    """Seconds from each keystroke to the findings about the text with it."""
    client, heard = LanguageClient("benchmark", "1"), asyncio.Queue[int | None]()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        heard.put_nowait(params.version)

    await client.start_io(sys.executable, "-m", "fairdsl", "lsp")
    await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    uri, version, seconds = (Path(tempfile.gettempdir()) / "typed.fair").as_uri(), 1, []
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "fair", version, text)))
    assert await heard.get() == version
    for typed in typed_into(text, keystrokes):
        version += 1
        began = time.perf_counter()
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(typed)],
            )
        )
        while await heard.get() != version:
            pass
        seconds.append(time.perf_counter() - began)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return seconds


def main() -> None:
    """Print the median, the 95th percentile and the longest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--keystrokes", type=int, default=200)
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    text = spec_of(options.lines)
    seconds = alone(text, options.keystrokes) if options.alone else asyncio.run(session(text, options.keystrokes))
    cuts = quantiles(seconds, n=100)
    print(f"{options.lines} lines, {len(seconds)} keystrokes: median {1000 * cuts[49]:.0f} ms, ", end="")
    print(f"95th percentile {1000 * cuts[94]:.0f} ms, longest {1000 * max(seconds):.0f} ms")


if __name__ == "__main__":
    main()
