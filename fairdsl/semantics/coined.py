"""Names that other libraries coined mean here what they mean there, or cannot be written.

Fairlearn's names know no privileged group, and some are about two values of a label. Where a property would make
another quantity of such a name, it is refused, and the help names the language's own.
"""

from __future__ import annotations

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute
from fairdsl.ir.metric import Alias, Library, Metric
from fairdsl.ir.rate import Each
from fairdsl.prelude import registered
from fairdsl.semantics import errors
from fairdsl.syntax import tree


def check_coined(
    metric: Metric, name: tree.Name, node: tree.Property, label: Attribute | None, reporter: Reporter
) -> None:
    """Report a name of the metric that would not mean in this property what it means where it was coined."""
    alias = next((alias for alias in metric.aliases if alias.name == name.text), None)
    if alias is None:
        return
    privileged = any(isinstance(clause, tree.PrivilegedClause) for clause in node.clauses)
    found = _of_two_labels(metric, alias, label) or (_beside_privileged(metric, alias) if privileged else None)
    if found is not None:
        reporter.report(errors.clause_out_of_place(name.text, name.span, *found))


def _of_two_labels(metric: Metric, alias: Alias, label: Attribute | None) -> tuple[str, str] | None:
    """A name about true and false positives, of another label: why it cannot be written, and what can."""
    two = alias.library is Library.FAIRLEARN and metric.rate.given is Each.LABEL
    if alias.library is None or not two or label is None or label.size is None or label.size == 2:
        return None
    return (
        f"{alias.library.value}'s `{alias.name}` is about two values of the label, and `{label.name}` has {label.size}",
        f"write `{metric.name}`, the {metric.in_words()}",
    )


def _beside_privileged(metric: Metric, alias: Alias) -> tuple[str, str] | None:
    """A name without a privileged group, of a metric whose own name is something else beside one."""
    other = registered(metric.name, privileged=True)
    if alias.library is None or not isinstance(other, Metric) or other.signed is metric.signed:
        return None
    return (
        f"{alias.library.value}'s `{alias.name}` is the {metric.in_words()}, whoever is privileged",
        f"write `{other.name}` for the {other.in_words()}, "
        f"or ask for `{alias.name}` in a property without `privileged`",
    )
