"""Metrics of groups: from enclosures of joint probabilities to a verdict with its rates and sampling intervals.

An engine makes a :class:`Joint` with a key for every group (:func:`columns_of`, :func:`keys_of`), adds the rows of data
(:func:`counts_of`), refines it until :func:`decided`, and returns :func:`value_of`.
"""

from fairdsl.metrics.counts import counts_of
from fairdsl.metrics.hull import hull_of, of_all_deciders
from fairdsl.metrics.joint import Bounds, Counted, Joint, Key, cells_of, columns_of, key_at, key_of, keys_of
from fairdsl.metrics.needed import needed, rows_to_decide
from fairdsl.metrics.row_keys import RowKeys
from fairdsl.metrics.sampling import rows_needed
from fairdsl.metrics.sizes import SIZES, at_size
from fairdsl.metrics.value import PRECISE, decided, most_favoured_groups, value_of
from fairdsl.metrics.words import group_words, range_words

__all__ = [
    "PRECISE",
    "SIZES",
    "Bounds",
    "Counted",
    "Joint",
    "Key",
    "RowKeys",
    "at_size",
    "cells_of",
    "columns_of",
    "counts_of",
    "decided",
    "group_words",
    "hull_of",
    "key_at",
    "key_of",
    "keys_of",
    "most_favoured_groups",
    "needed",
    "of_all_deciders",
    "range_words",
    "rows_needed",
    "rows_to_decide",
    "value_of",
]
