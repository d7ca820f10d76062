"""The strategies of a search, by name: one file a method, which says where the method is from."""

from fairdsl.backends.search.strategies.registry import STRATEGIES, loaded, strategies

__all__ = ["STRATEGIES", "loaded", "strategies"]
