"""The quick falsifier: finds violations, proves nothing. What others use of it is offered here."""

from fairdsl.backends.search.boxes import Box, Span
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.falsify import Ending, Near, SearchResult, falsify
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.growth import grown
from fairdsl.backends.search.judge import Judge, Judged, Status
from fairdsl.backends.search.procedure import Search
from fairdsl.backends.search.severity import Severity, severity
from fairdsl.backends.search.shares import Share, share_of
from fairdsl.backends.search.strategies import STRATEGIES, loaded, strategies

__all__ = [
    "STRATEGIES",
    "Box",
    "Ending",
    "Ground",
    "Judge",
    "Judged",
    "Near",
    "Search",
    "SearchResult",
    "Severity",
    "Share",
    "Span",
    "Status",
    "evaluator_of",
    "falsify",
    "grown",
    "loaded",
    "severity",
    "share_of",
    "strategies",
]
