"""What of a file's output stands for each outcome of a model, for whoever shows how a model is bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.domain import show_number
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Deployed, Model, Readout

#: Thresholds of larger denominators are logits, which represent irrational numbers: nine digits of them are shown.
_SHORT = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeReading:
    """One outcome, and when the file's output means it."""

    #: The outcome's name in the spec.
    outcome: str
    #: The name of the output tensor.
    output: str
    #: The label that the file returns for it, or the name of the column that is read; None where the file has none.
    label: int | str | None = None
    #: The column that is read, counted from 0; None where the output is the label itself, or one number.
    column: int | None = None
    #: How the number of the column, or the one number, is compared; None where the label or the highest column decides.
    relation: Relation | None = None
    #: What it is compared with.
    threshold: Fraction | None = None
    #: Whether this is the outcome of everybody whom no other one is said of.
    otherwise: bool = False

    @property
    def text(self) -> str:
        """In words, as ``label "approved" of `label``` or ``column 1 of `p` >= 0.5``."""
        if self.otherwise:
            return "otherwise"
        label = f'"{self.label}"' if isinstance(self.label, str) else str(self.label)
        if self.column is None and self.relation is None:
            return f"label {label} of `{self.output}`"
        named = f"`{self.output}`" if self.column is None else f"column {self.column} of `{self.output}`"
        named = named if self.label is None else f"{named} ({label})"
        if self.relation is None or self.threshold is None:
            return f"{named} is the highest"
        exact = self.threshold.denominator <= _SHORT
        return (
            f"{named} {self.relation.value} {show_number(self.threshold) if exact else f'{float(self.threshold):.9g}'}"
        )


def outcome_readings(model: Model) -> tuple[OutcomeReading, ...]:
    """One entry for each outcome of a model from a file, in the model's order; none for any other model."""
    deployed = model.deployed
    if deployed is None:
        return ()
    return tuple(_reading(deployed, model.outcomes, outcome) for outcome in range(len(model.outcomes)))


def _reading(deployed: Deployed, outcomes: tuple[str, ...], outcome: int) -> OutcomeReading:
    name, output, classes = outcomes[outcome], deployed.output, deployed.classes
    match deployed.readout:
        case Readout.LABEL:
            label = deployed.labels[outcome] if deployed.labels else outcome
            return OutcomeReading(outcome=name, output=output, label=label, otherwise=label is None)
        case Readout.HIGHEST | Readout.DIFFERENCE:
            place = deployed.labels[outcome] if deployed.labels else outcome
            assert isinstance(place, int), "columns are numbered"
            label = classes[place] if classes else None
            return OutcomeReading(outcome=name, output=output, column=place, label=label)
        case Readout.SCORE | Readout.CHANNEL:
            if outcome != deployed.granted:
                return OutcomeReading(outcome=name, output=output, otherwise=True)
            several = deployed.readout is Readout.CHANNEL and len(classes) != 1
            return OutcomeReading(
                outcome=name,
                output=output,
                column=deployed.channel if several else None,
                label=classes[deployed.channel] if classes else None,
                relation=deployed.relation,
                threshold=deployed.threshold,
            )
