"""Names that other libraries coined mean here what they mean there, or cannot be written.

Fairlearn's names know no privileged group, and AIF360 gives one of them another meaning; both are about two values of
a label. Where a property would make another quantity of such a name, it is refused, and the help names the language's
own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["check_coined"]

#: Names that mean something else where a group is privileged: why, and what to write instead.
_BESIDE_PRIVILEGED: Mapping[str, tuple[str, str]] = {
    "demographic_parity_ratio": (
        "Fairlearn's `demographic_parity_ratio` is the smallest over the largest rate, whoever is privileged",
        "write `disparate_impact` for AIF360's ratio to the privileged group, or ask for `demographic_parity_ratio` "
        "in a property without `privileged`",
    ),
    "equal_opportunity_difference": (
        "of Fairlearn it is the gap of the true positive rates, of AIF360 a signed difference to the privileged group",
        "write `equal_opportunity` for the gap, or ask for it in a property without `privileged`",
    ),
}
#: Names about true and false positive rates.
_TWO_LABELS: Mapping[str, Callable[[str, int], tuple[str, str]]] = {
    "equalized_odds_difference": lambda label, count: (
        f"Fairlearn's `equalized_odds_difference` is about two values of the label, and `{label}` has {count}",
        "write `equalized_odds`, the worst gap over any number of values",
    ),
}


def check_coined(name: str, span: Span, node: tree.Property, label: Attribute | None, reporter: Reporter) -> None:
    """Report a coined name that would not mean in this property what it means where it was coined."""
    privileged = any(isinstance(clause, tree.PrivilegedClause) for clause in node.clauses)
    found = _BESIDE_PRIVILEGED.get(name) if privileged else None
    if name in _TWO_LABELS and label is not None and label.size is not None and label.size != 2:
        found = _TWO_LABELS[name](label.name, label.size)
    if found is not None:
        reporter.report(errors.clause_out_of_place(name, span, *found))
