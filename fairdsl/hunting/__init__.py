"""``search``: many violating pairs of a property's own question, each replayed, each counted once."""

from fairdsl.hunting.run import Example, Found, search_spec

__all__ = ["Example", "Found", "search_spec"]
