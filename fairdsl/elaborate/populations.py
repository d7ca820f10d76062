"""The populations that questions are asked under: each is built once, from the spec's data or other data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fairdsl.data.samples import Samples
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.elaborate import errors
from fairdsl.ir.domain import Derived
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Population
from fairdsl.ir.question import GroupMetric
from fairdsl.semantics.checked import CheckedDistribution, CheckedSpec
from fairdsl.source import Span


@dataclass(frozen=True, slots=True)
class Populations:
    """Builds populations on demand; whatever is wrong with one is reported the first time.

    ``data`` are files that replace those of the spec, by the distribution's name.
    """

    spec: CheckedSpec
    data: Mapping[str, str]
    reporter: Reporter
    _built: dict[tuple[str, str | None], Population | None] = field(default_factory=dict)
    _grouped: dict[tuple[str, str | None, tuple[Derived, ...]], Population] = field(default_factory=dict)
    _samples: Samples = field(default_factory=Samples)

    def check_names(self) -> None:
        """Report data for distributions that there are not, or that read no data."""
        readers = tuple(
            name for name, distribution in self.spec.distributions.items() if distribution.source is not None
        )
        for name in self.data:
            if name not in readers:
                self.reporter.report(errors.data_of_nothing(name, readers, declared=name in self.spec.distributions))

    @staticmethod
    def needs_model(distribution: CheckedDistribution) -> bool:
        """Whether the population is another one for another model."""
        from fairdsl.populations import depends_on_model

        return depends_on_model(distribution)

    @property
    def by_model(self) -> tuple[tuple[str | None, Population], ...]:
        """Those that were built, each with the model that it was cut by (None: by none)."""
        return tuple((key[1], population) for key, population in self._built.items() if population is not None)

    @property
    def built(self) -> tuple[Population, ...]:
        """Those that were built, in the order in which they were asked for."""
        return tuple(population for population in self._built.values() if population is not None)

    def grouped(self, name: str, model_name: str, model: Model, question: GroupMetric) -> Population | None:
        """The population with the derived attributes by which the question groups people as columns.

        Raises DiagnosticError where the distribution does not decide one of them, or has means in place of the groups.
        """
        population, place = self.of(name, model_name, model), question.span
        if isinstance(population, Network) and place is not None:
            _check_no_means(population, (*question.across, *question.given_each), place)
        if population is None or not question.derived or place is None:
            return population
        from fairdsl.populations import with_derived

        of_model = self.needs_model(self.spec.distributions[name]) or any(each.of is None for each in question.derived)
        key = (name, model_name if of_model else None, question.derived)
        if key not in self._grouped:
            attributes = len(self.spec.distributions[name].domain.attributes)
            self._grouped[key] = with_derived(population, question.derived, attributes, model, place)
        return self._grouped[key]

    def of(self, name: str, model_name: str, model: Model | None) -> Population | None:
        """The population of that name; ``model`` is the one under audit, None where it could not be opened.

        None where it cannot be built, or where its bins are the model's thresholds and there is no model.
        """
        # Heavy: reads and counts tables. Specs without groups do without it.
        from fairdsl.populations import build

        distribution = self.spec.distributions[name]
        needs_model = self.needs_model(distribution)
        if needs_model and model is None:
            return None
        key = (name, model_name if needs_model else None)
        if key not in self._built:
            cut_by, data = model if needs_model else None, self.data.get(name)
            self._built[key] = build(distribution, cut_by, self.reporter, data=data, samples=self._samples)
        return self._built[key]


def _check_no_means(network: Network, columns: Sequence[int], place: Span) -> None:
    """Check that no group is one of bins that are taken to be the means of their rows: it would have no rows."""
    from fairdsl.populations.errors import distribution_does_not_fit

    for attribute in (network.columns[column] for column in columns if column < len(network.columns)):
        if network.has_means and (attribute.bins or attribute.bins_by is not None):
            reason = f"groups by its bins, which `{network.name}` takes to be single numbers"
            help_text = "group by a derived attribute, or remove `set bins = means`"
            raise DiagnosticError(distribution_does_not_fit(attribute.name, reason, place, help_text, attribute.span))
