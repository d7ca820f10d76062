"""Files of the question how far apart the worst two are, whichever engine refines it.

problem --written--> gap job --solve--> results --recover--> the number, between a pair and a bound
"""

from __future__ import annotations

from fairdsl.backends.worst_pairs.encoding import GapJob

__all__ = ["GapJob"]
