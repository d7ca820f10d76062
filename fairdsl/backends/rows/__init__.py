"""Numbers over the rows of a table: every row is decided, in exact arithmetic and by the deployed file."""

from fairdsl.backends.rows.procedure import OverRows

__all__ = ["OverRows"]
