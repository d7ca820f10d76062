"""The quick falsifier: finds violations, proves nothing."""

from fairdsl.backends.search.procedure import Search

__all__ = ["Search"]
