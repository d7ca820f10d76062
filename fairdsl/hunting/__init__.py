"""``search``: many violating pairs of a property's own question, each replayed, each counted once."""

from fairdsl.hunting.found import Example, Found, Representative
from fairdsl.hunting.near import NearSummary
from fairdsl.hunting.run import search_spec
from fairdsl.hunting.wanted import Wanted

__all__ = ["Example", "Found", "NearSummary", "Representative", "Wanted", "search_spec"]
