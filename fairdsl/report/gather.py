"""From the verdicts on a spec's demands to the report, whoever found them: an engine now, or a solver's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import Elaborated, Elaboration
from fairdsl.plan.errors import nobody_compared
from fairdsl.report.build import demand_report
from fairdsl.report.hashes import hashed_data, hashed_models
from fairdsl.report.model import DemandReport, PropertyReport, Report
from fairdsl.resources import version
from fairdsl.semantics import CheckedSpec
from fairdsl.verdict import Value, Verdict, is_vacuous

__all__ = ["Gathering"]


class Gathering:
    """What the demands of a spec came to, one after the other; properties without any are left out of the report."""

    def __init__(self, spec: CheckedSpec, elaborated: Elaboration, warnings: Sequence[Diagnostic]) -> None:
        """``warnings`` are those about the spec's text; those about its files are the elaboration's."""
        self._spec, self._elaborated = spec, elaborated
        self._findings = [*warnings, *elaborated.warnings]
        self._demands: dict[str, list[DemandReport]] = {}

    def add(self, item: Elaborated, verdict: Verdict, seconds: float = 0.0) -> None:
        """What one demand came to, in so many seconds, and what the verdict says beside."""
        answer = demand_report(
            text=item.demand.text,
            metric=item.demand.metric,
            quantity=item.demand.quantity,
            threshold=item.demand.threshold,
            verdict=verdict,
            domain=item.property.domain,
            outcomes=item.outcomes,
            seconds=seconds,
            population=item.problem.population,
        )
        self._demands.setdefault(item.property.name, []).append(answer)
        if is_vacuous(verdict):
            self._findings.append(nobody_compared(item.property.name, item.property.span))
        if isinstance(verdict, Value):
            self._findings.extend(verdict.warnings)

    def report(self, path: str, *, models: Mapping[str, str], data: Mapping[str, str] | None, seed: int = 0) -> Report:
        """All of it, about the spec at ``path``; files in ``models`` and ``data`` replaced the spec's, by name."""
        return Report(
            version=version(),
            path=path,
            sha256=self._spec.source.sha256,
            title=self._spec.title,
            models=hashed_models(self._spec, self._elaborated.models, models, self._elaborated.agreements),
            data=hashed_data(self._spec, data),
            seed=seed,
            properties=tuple(
                PropertyReport(
                    name=checked.name,
                    sentence=checked.title or checked.sentence,
                    clauses=checked.clauses,
                    demands=tuple(self._demands[checked.name]),
                )
                for checked in self._spec.properties
                if checked.name in self._demands
            ),
            diagnostics=tuple(dict.fromkeys(self._findings)),
        )
