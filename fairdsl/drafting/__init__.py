"""A first spec for a table, and for a model: what the data already say, each choice with its reason."""

from fairdsl.drafting.run import Drafted, draft_spec

__all__ = ["Drafted", "draft_spec"]
