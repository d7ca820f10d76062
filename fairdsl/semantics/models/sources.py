"""Where a model comes from, by its clauses: which file, and whether it names the outcomes itself."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import (
    ByAnswer,
    ByRules,
    CallableSource,
    DecisionClause,
    FileSource,
    ModelSource,
    Recorded,
)
from fairdsl.semantics import errors
from fairdsl.source.reading import named_in
from fairdsl.syntax import tree

#: The word before the path of a file that is only ever run.
_BLACK_BOX = "black_box"


def file_source(clause: tree.From) -> FileSource:
    """A `from` clause; its path counts from the folder of the file that holds it."""
    return FileSource(
        path=named_in(clause.span.file.path, clause.path.value),
        format=clause.format.text if clause.format else None,
        sha256=clause.digest.value.lower() if clause.digest else None,
        span=clause.path.span,
        digest_span=clause.digest.span if clause.digest else None,
    )


def recorded_decisions(clause: tree.Agrees, reporter: Reporter) -> Recorded | None:
    """An `agrees with` clause; its path counts from the folder of the file that holds it. None after reporting."""
    share = Fraction(1) if clause.share is None else clause.share.value
    if clause.share is not None and not 0 < share <= 1:
        percent = not clause.share.percent and 1 < share <= 100
        instead = f"on {clause.share.text}%" if percent else "on 99%"
        reporter.report(
            errors.number_out_of_place(
                "a share of rows lies above 0% and is at most 100%", clause.share.span, f"write `{instead}`"
            )
        )
        return None
    return Recorded(
        column=clause.column.value,
        path=named_in(clause.span.file.path, clause.path.value),
        sha256=clause.digest.value.lower() if clause.digest else None,
        share=share,
        span=clause.span,
        digest_span=clause.digest.span if clause.digest else None,
    )


def names_outcomes(
    file: tree.From | None, function: tree.FromCallable | None
) -> tuple[ModelSource, DecisionClause] | None:
    """What a model without a decision rule is, if its answers may be the outcomes themselves."""
    if function is not None:
        return CallableSource(span=function.span), ByAnswer(span=function.span)
    if file is not None and _may_name_classes(file):
        return file_source(file), ByAnswer(span=file.span)
    if file is not None and _may_hold_rules(file):
        return file_source(file), ByRules(span=file.span)
    return None


def lists_rules(node: tree.Model) -> bool:
    """Whether the model is a list of rules, or tries to be one."""
    return any(isinstance(clause, tree.Rule | tree.Otherwise) for clause in node.clauses)


def names_rules(clause: tree.From) -> bool:
    """Whether the file is said to be a document of rules."""
    return clause.format is not None and clause.format.text == "rules"


def _may_name_classes(clause: tree.From) -> bool:
    """Whether the file may call its classes by the names of the outcomes."""
    if clause.format is not None:
        return clause.format.text in (_BLACK_BOX, "onnx")
    return clause.path.value.lower().endswith(".onnx")


def _may_hold_rules(clause: tree.From) -> bool:
    """Whether the file may name the outcomes itself: what ends like the document of a linear model is opened first."""
    return names_rules(clause) or (clause.format is None and clause.path.value.lower().endswith(".json"))
