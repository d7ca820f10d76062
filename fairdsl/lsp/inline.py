"""What stands between the lines of a spec: defaults in force, the button that checks, and verdicts with their pairs.

A verdict is shown while the text, everything that it uses and every file that the check opened is what it was, and
only where the text has no errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types

from fairdsl.lsp.checking import Checks, Verdict
from fairdsl.lsp.desk import Desk, Seen
from fairdsl.semantics import CheckedProperty
from fairdsl.syntax import tree
from fairdsl.verdict import Judgement

#: The command that checks: its arguments are the address of the spec and the names of properties, none for all.
CHECK = "fairdsl.check"
_MARKS = {Judgement.HOLDS.value: "✓", Judgement.VIOLATED.value: "✗", Judgement.MEASURED.value: "="}
_OTHER = "?"


def lenses(desk: Desk, seen: Seen, checks: Checks) -> Iterator[types.CodeLens]:
    """Above each property: its last verdict, and the command that checks it. Above the first, one for all of them.

    Above a spec with errors they stand as well, lest the text jump while somebody writes, and do nothing.
    """
    if seen.main is None:
        return
    places, uri = desk.places(seen.path), desk.uri(seen.path)
    known = list(checks.verdicts(desk, seen))
    asking = [item for item in seen.main.items if isinstance(item, tree.Property | tree.Apply)]
    running = checks.running(seen.path)

    def button(item: tree.Node, title: str, *names: str) -> types.CodeLens:
        if seen.has_errors:
            command = types.Command("not checked: errors", "")
        elif running is not None and (not running or set(names) & set(running)):
            command = types.Command("checking ...", "")
        else:
            command = types.Command(title, CHECK, arguments=[uri, list(names)])
        return types.CodeLens(places.range(item.span), command)

    for number, item in enumerate(asking):
        if number == 0 and (isinstance(item, tree.Apply) or (len(asking) > 1 and not seen.has_errors)):
            yield button(item, "check all")
        if isinstance(item, tree.Apply):
            continue
        mine = [verdict for verdict in known if verdict.family == item.name.text]
        yield button(item, "check again" if mine else "check", item.name.text)
        if mine:
            yield types.CodeLens(places.range(item.span), types.Command(_summary(mine), ""))


def _summary(verdicts: Sequence[Verdict]) -> str:
    """``✗ violated``, or how many of a family came to what."""
    judgements = [verdict.said["judgement"] for verdict in verdicts]
    if len(judgements) == 1:
        return f"{_MARKS.get(judgements[0], _OTHER)} {judgements[0]}"
    return ", ".join(
        f"{_MARKS.get(each, _OTHER)} {judgements.count(each)} {each}" for each in dict.fromkeys(judgements)
    )


def hints(desk: Desk, seen: Seen, checks: Checks, wanted: types.Range) -> Iterator[types.InlayHint]:
    """Defaults in force behind the head of each property, and what became of its lines behind them."""
    if seen.main is None or seen.has_errors or seen.read is None or seen.read.checked is None:
        return
    places = desk.places(seen.path)
    verdicts = list(checks.verdicts(desk, seen))
    found: list[types.InlayHint] = []
    for item in seen.main.items:
        if not isinstance(item, tree.Property):
            continue
        checked = next((each for each in seen.read.checked.properties if each.family == item.name.text), None)
        if checked is not None and (defaults := _defaults(item, checked)):
            head = item.sentence or item.name
            place = places.position(seen.main.span.file.text.index("{", head.span.end) + 1)
            label = "  " + "; ".join(defaults)
            found.append(types.InlayHint(place, label, tooltip="in force without being written", padding_left=True))
    for verdict in verdicts:
        for demand in verdict.said["demands"]:
            if demand["file"] == seen.path:
                found.append(_verdict(places.position(demand["end"]), verdict.said, demand))
    for hint in sorted(found, key=lambda hint: (hint.position.line, hint.position.character)):
        if wanted.start.line <= hint.position.line <= wanted.end.line:
            yield hint


def _defaults(item: tree.Property, checked: CheckedProperty) -> list[str]:
    """The clauses in force that begin with no word that the property writes."""
    written = {clause.span.text.split()[0] for clause in item.clauses}
    return [clause for clause in checked.clauses if clause.replace(":", " ").split()[0] not in written]


def _verdict(place: types.Position, said: dict[str, Any], demand: dict[str, Any]) -> types.InlayHint:
    """``✗ violated: sex female | male, decision reject | grant``, with the sentences of the report behind it."""
    pairs = [*demand["pairs"], *(each for each in said["pairs"] if not _of_others(each, demand))]
    mark = _MARKS.get(demand["judgement"], _OTHER)
    said_before = demand["text"].endswith(demand["outcome"])
    label = f"{mark} {demand['judgement']}" + ("" if said_before else f" {demand['outcome']}")
    lines = [demand["plain"], demand["resting"]]
    if pairs and demand["judgement"] != Judgement.HOLDS.value:
        pair = pairs[0]
        label += ": " + ", ".join(f"{name} {a} | {b}" if b else f"{name} {a}" for name, a, b in pair["rows"])
        lines.append("both: " + ", ".join(f"`{each}`" for each in pair["both"]) if pair["both"] else "")
    tooltip = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(line for line in lines if line))
    return types.InlayHint(place, f"  {label}", tooltip=tooltip, padding_left=True)


def _of_others(pair: dict[str, Any], demand: dict[str, Any]) -> bool:
    """Whether a pair of the property was found for other lines of it."""
    return bool(pair["found_for"]) and demand["text"] not in pair["found_for"]
