"""A report as JUnit XML, which every build server reads: a case for each demand, a suite for the spec.

What is violated has failed. What is refused, unknown or about nobody is an error, and never passes: nothing was shown.
So is what a second opinion contradicts.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from fairdsl.diagnostics import Severity
from fairdsl.report.sheet import DemandSheet, Sheet
from fairdsl.verdict import Judgement

#: What XML cannot hold, however it is written.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OPEN = (Judgement.REFUSED, Judgement.UNKNOWN, Judgement.VACUOUS)


def junit(sheet: Sheet) -> str:
    """The document, with its declaration."""
    spec = sheet.files[0].place
    mistakes = [finding for finding in sheet.findings if finding.severity is Severity.ERROR]
    demands = [(item, demand) for item in sheet.properties for demand in item.demands]
    failed = sum(demand.judgement is Judgement.VIOLATED for _, demand in demands)
    errors = sum(_open(demand) for _, demand in demands) + len(mistakes)
    seconds = f"{sum(demand.seconds for _, demand in demands):.3f}"
    counts = {"tests": str(len(demands) + len(mistakes)), "failures": str(failed), "errors": str(errors)}
    root = Xml.Element("testsuites", {"name": "fairdsl", **counts, "time": seconds})
    suite = Xml.SubElement(root, "testsuite", {"name": _clean(spec), **counts, "skipped": "0", "time": seconds})
    for item, demand in demands:
        name = {"name": _clean(demand.text), "classname": _clean(item.name), "time": f"{demand.seconds:.3f}"}
        case = Xml.SubElement(suite, "testcase", name)
        _came(case, demand)
    for finding in mistakes:
        case = Xml.SubElement(suite, "testcase", {"name": finding.code, "classname": _clean(spec), "time": "0.000"})
        wrong = Xml.SubElement(case, "error", {"type": finding.code, "message": _clean(finding.title)})
        wrong.text = _clean(finding.help or "")
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _open(demand: DemandSheet) -> bool:
    return demand.judgement in _OPEN or (demand.judgement is not Judgement.VIOLATED and bool(demand.against))


def _came(case: Xml.Element, demand: DemandSheet) -> None:
    said = {"type": demand.judgement.value, "message": _clean(demand.plain)}
    text = _clean("\n".join(one for one in (demand.outcome, demand.resting, demand.claim, *demand.against) if one))
    if demand.judgement is Judgement.VIOLATED:
        Xml.SubElement(case, "failure", said).text = text
    elif _open(demand):
        Xml.SubElement(case, "error", said).text = text
    else:
        Xml.SubElement(case, "system-out").text = text


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
