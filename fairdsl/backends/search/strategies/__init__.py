"""The strategies of a search, by name; each says where its method is from."""

from fairdsl.backends.search.strategies.registry import STRATEGIES, loaded, strategies

__all__ = ["STRATEGIES", "loaded", "strategies"]
