"""How a model's file is connected with the spec, and what vouches for it, as JSON."""

from __future__ import annotations

from typing import Any

from fairdsl.ir.agreement import Agreement
from fairdsl.ir.binding import Binding
from fairdsl.ir.numbers import ratio

__all__ = ["agreement_to_json", "binding_to_json"]

JsonObject = dict[str, Any]


def binding_to_json(binding: Binding) -> JsonObject:
    """How a model's file is connected with the spec: each of its inputs, and each outcome."""
    return {
        "by": binding.by.value,
        "inputs": [
            {"input": item.input, "feature": item.feature, "values": item.values}
            | ({"codes": dict(item.codes)} if item.codes else {})
            for item in binding.inputs
        ],
        "outcomes": [{"outcome": item.outcome, "when": item.when} for item in binding.outcomes],
    }


def agreement_to_json(agreement: Agreement) -> JsonObject:
    """What came of holding a model against recorded decisions."""
    written: JsonObject = {
        "model": agreement.model,
        "path": agreement.path,
        "sha256": agreement.sha256,
        "column": agreement.column,
        "reading": agreement.reading,
        "rows": agreement.rows,
        "agreeing": agreement.agreeing,
        "ties": agreement.explained,
        "asked": ratio(agreement.asked),
        "disagreements": [
            {
                "row": row.row,
                "individual": dict(row.individual),
                "recorded": row.recorded,
                "computed": row.computed,
                "tie": row.explained,
            }
            for row in agreement.first
        ],
    }
    if agreement.exactly is not None:
        written["agreeing_exactly"] = agreement.exactly
    return written if agreement.better is None else written | {"better": agreement.better}
