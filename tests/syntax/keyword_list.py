"""The keywords of the language, read from the grammar."""

from __future__ import annotations

import re

from fairdsl.resources import grammar_file

_TERMINAL = re.compile(r'^[A-Z0-9]+(?:\.2)?: (?:"|/)([a-z][a-z0-9]*)', re.MULTILINE)

KEYWORDS = sorted(set(_TERMINAL.findall(grammar_file("fair.lark").read_text(encoding="utf-8"))))
