"""``search``: many violating pairs of a property's own question, each replayed, each counted once."""

from fairdsl.counterexamples.found import Example, Found, Representative
from fairdsl.counterexamples.near import NearSummary
from fairdsl.counterexamples.run import Request, search_spec

__all__ = ["Example", "Found", "NearSummary", "Representative", "Request", "search_spec"]
