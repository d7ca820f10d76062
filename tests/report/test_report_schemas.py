"""Reports in formats of others, held against the schemas that others have published, where these are at hand.

``FAIRDSL_SCHEMAS`` names a folder with ``sarif-schema-2.1.0.json`` (OASIS, github.com/oasis-tcs/sarif-spec) and
``junit-10.xsd`` (github.com/jenkinsci/xunit-plugin); they are theirs, and no copy of them is kept here.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from samples import REPORT

from fairdsl.codec import plain, schema
from fairdsl.report.model import Report


def published(name: str) -> Path:
    path = Path(os.environ.get("FAIRDSL_SCHEMAS", "nowhere")) / name
    if not path.exists():
        pytest.skip(f"there is no {name}: FAIRDSL_SCHEMAS names the folder with it")
    return path


def test_json() -> None:
    document = plain(REPORT)
    jsonschema.validate(document, schema(Report))
    document["properties"][0]["judgement"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema(Report))


def test_sarif() -> None:
    against = json.loads(published("sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    document = json.loads(REPORT.rendered("sarif"))
    jsonschema.validate(document, against)
    del document["runs"][0]["tool"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, against)


def test_junit() -> None:
    xmlschema = pytest.importorskip("xmlschema")
    against, text = xmlschema.XMLSchema(published("junit-10.xsd")), REPORT.rendered("junit")
    against.validate(text)
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        against.validate(text.replace("<testsuite ", "<testsuit ").replace("</testsuite>", "</testsuit>"))
