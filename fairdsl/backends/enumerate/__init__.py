"""Exhaustive evaluation: every individual of a finite domain, exact where a sign is in doubt."""

from fairdsl.backends.enumerate.procedure import Enumerate

__all__ = ["Enumerate"]
