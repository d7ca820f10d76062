"""What can be wrong with a model file: one constructor per code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.diagnostics.wording import listed, short_path
from fairdsl.ir.declaration import WhenProbability
from fairdsl.ir.domain import show_number
from fairdsl.models.instead import INSTEAD
from fairdsl.models.pickles import is_pickle, opened_by_hand
from fairdsl.source import Span

#: So many names are listed at most.
_LISTED = 24
#: What is left for a file that cannot be read exactly.
_ONLY_RUN = '`from black_box "..."` takes any file that runs, to search it for violations; nothing is proved of it'
_READ_OPERATORS = "export the network with operators that are read"
_WITHOUT = "export the network without this step, or put it into `reads` or the decision rule"


def _at(span: Span | None, text: str = "") -> Label | None:
    return None if span is None else Label(span, text)


def cannot_open(path: str, reason: str, span: Span | None, *, replaces: str | None = None) -> Diagnostic:
    """E0501: the file is not there, or may not be read; ``replaces``: named on the command line for this model."""
    reason = reason[:1].lower() + reason[1:]
    remedy = f"check the path `{path}`: paths start from the spec's folder; `--model NAME=PATH` replaces the file"
    if replaces is not None:
        remedy = f"check `--model {replaces}={path}`: such a path starts from the folder that the command is run in"
    return Diagnostic(
        code="E0501",
        title=f"the model file `{short_path(path)}` cannot be opened",
        primary=_at(span, reason if replaces is None else "another file was named in place of this one"),
        notes=() if replaces is None else (f"`{short_path(path)}`: {reason}",),
        why="the audit is about this file; without it there is nothing to verify",
        help=remedy,
    )


def not_onnx(path: str, reason: str, span: Span | None) -> Diagnostic:
    """E0502: not an ONNX model, or one that contradicts itself."""
    return Diagnostic(
        code="E0502",
        title=f"`{short_path(path)}` is not an ONNX model that can be read",
        primary=_at(span, reason),
        notes=(reason,) if span is None else (),
        why="a file that is read half right would be a different model, and the verdict about that one",
        help="export the model again and check it with `onnx.checker.check_model`",
    )


def operator_not_read(
    path: str, operator: str, places: Sequence[str], known: Sequence[str], span: Span | None
) -> Diagnostic:
    """E0503: the graph uses an operator that the importer does not know."""
    suggestion = nearest(operator, known)
    hint = f"; the nearest is `{suggestion}`" if suggestion else ""
    purpose, remedy = INSTEAD.get(operator, ("", f"{_READ_OPERATORS}{hint}"))
    return Diagnostic(
        code="E0503",
        title=f"the operator `{operator}` is not read",
        primary=_at(span, f"node {listed(places, 4)} of `{short_path(path)}` uses it{purpose}"),
        notes=(f"operators read: {', '.join(known)}",),
        why="every step of the network must have an exact meaning; one that is skipped changes the model",
        help=f"{remedy}; {_ONLY_RUN}",
    )


def node_not_exact(
    path: str, operator: str, node: str, reason: str, remedy: str | None, span: Span | None
) -> Diagnostic:
    """E0504: a known operator in a place, or with settings, where it is not a sum of units."""
    return Diagnostic(
        code="E0504",
        title=f"this use of `{operator}` cannot be read exactly",
        primary=_at(span, f"node `{node}` of `{short_path(path)}`: {reason}"),
        why="verdicts rest on sums and on piecewise-linear and smooth functions, taken exactly from the file",
        help=f"{remedy or _WITHOUT}; {_ONLY_RUN}",
    )


def side_file_missing(path: str, side_file: str, span: Span | None) -> Diagnostic:
    """E0505: the weights lie in a file of their own, which is not there."""
    return Diagnostic(
        code="E0505",
        title=f"`{short_path(path)}` keeps its weights in a side file that is missing",
        primary=_at(span, f"needs `{side_file}` in the same folder"),
        why="the graph alone says how the network is built, not what it computes",
        help=f"copy `{side_file}` beside the model, or export with the weights inside "
        "(`external_data=False` in `torch.onnx.export`)",
    )


def not_finite(path: str, tensor: str, span: Span | None) -> Diagnostic:
    """E0506: NaN or infinity among the weights, a product of them that no float64 is near, or, where there is no
    ``path``, a number of a formula that is too large.
    """
    if path:
        label = f"`{tensor}` in `{short_path(path)}` is NaN, infinite or beyond float64"
        why = "such a network decides by the rules of NaN comparison, not by its score; usually the training diverged"
        remedy = "train and export the model again"
    else:
        label = f"{tensor} is beyond float64, whose greatest is 1.8 with 308 zeros"
        why = "scores are steered by in float64 before they are decided exactly, and infinity steers nowhere"
        remedy = "measure the attributes in larger units, or scale all numbers of the formula and its threshold down"
    return Diagnostic(
        code="E0506",
        title="the model has weights that are not finite numbers",
        primary=_at(span, label),
        why=why,
        help=remedy,
    )


def digest_differs(path: str, expected: str, found: str, span: Span | None, *, replaced: bool = False) -> Diagnostic:
    """E0507: the file's SHA-256 is not the one that the spec pins; ``replaced``: named on the command line."""
    how = "given in place of the spec's file, " if replaced else ""
    is_digest = re.fullmatch("[0-9a-fA-F]{64}", expected) is not None
    return Diagnostic(
        code="E0507",
        title=f"`{short_path(path)}` is not the file that the spec pins"
        if is_digest
        else f"`{short_path(path)}` is pinned by something that is not a SHA-256",
        primary=_at(span, "another SHA-256" if is_digest else "a SHA-256 is 64 hexadecimal digits"),
        notes=(f"pinned  {expected}", f"found   {found}  ({how}`{path}`)"),
        why="the audit is signed for one model; a retrained or edited file needs an audit of its own",
        help=f'{"use the pinned file, or " if is_digest else ""}write `sha256 "{found}"` to audit this one',
    )


def width_differs(path: str, reads: int, given: int, what: str, names: Sequence[str], span: Span | None) -> Diagnostic:
    """E0508: as many numbers must go in as the network reads."""
    plural = "number" if reads == 1 else "numbers"
    return Diagnostic(
        code="E0508",
        title=f"the network reads {reads} {plural}, {what}",
        primary=_at(span, f"`{short_path(path)}` needs {reads}, the spec gives {given}"),
        notes=(f"in this order: {listed(names, _LISTED)}",),
        why="inputs shifted by one column are accepted by every network, and every verdict is then about another model",
        help="write `reads` and the features in the network's order: attributes, `one_hot(ATTRIBUTE)` for an indicator "
        "a value, and sums of them",
    )


def input_not_bound(
    path: str,
    inputs: Sequence[str],
    names: Sequence[str],
    reason: str,
    span: Span | None,
    remedy: str = 'give the attribute the file\'s name with `column "..."`, or write `reads` in the order of the '
    "inputs",
) -> Diagnostic:
    """E0509: named inputs of the file that match no attribute, or inputs of another kind of value."""
    first = inputs[0]
    suggestion = nearest(first, names)
    did_you_mean = f"did you mean `{suggestion}`? " if suggestion else ""
    return Diagnostic(
        code="E0509",
        title=f"the input `{_short(first)}` of the model cannot be bound",
        primary=_at(span, f"{listed(inputs, 6)} of `{short_path(path)}`: {reason}"),
        notes=(
            *([f"{listed(inputs, 6)}: {reason}"] if span is None else []),
            *([f"to choose from: {listed(names, _LISTED)}"] if names else []),
        ),
        why="an input that is bound by guess makes the audit one of another model",
        help=did_you_mean + remedy,
    )


def linear_document(path: str, reason: str, place: Span | None, named: Span | None) -> Diagnostic:
    """E0510: the JSON document of a linear model is not one; ``place`` is where, ``named`` where the spec names it."""
    return Diagnostic(
        code="E0510",
        title=f"`{short_path(path)}` does not describe a linear model",
        primary=_at(place or named, reason),
        secondary=(Label(named, "read as a linear model"),) if place is not None and named is not None else (),
        why="a number that is missing, misread or passed over changes every score",
        help='write `{"features": ["age", "income"], "coefficients": [0.5, -1.25], "intercept": 2}`; '
        "`coef_` and `intercept_` are read too",
    )


def own_file_not_read(path: str, library: str, reason: str, span: Span | None) -> Diagnostic:
    """E0520: a library's own file that is damaged, or uses what is not read."""
    name = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "keras": "Keras"}[library]
    help_text = (
        'save the model in the library\'s own format, or export it to ONNX and write `from black_box "..."`, which '
        "searches for violations and proves nothing"
    )
    if library == "keras":
        help_text = (
            'export it by `model.export("model.onnx", format="onnx")` and write `from "model.onnx"`: what of that is '
            "not read exactly either is said, and searched as a black box"
        )
    return Diagnostic(
        code="E0520",
        title=f"`{short_path(path)}` is not a model of {name} that can be read",
        primary=_at(span, reason),
        why="what is passed over of a model makes the audit one of another model",
        help=help_text,
    )


def decision_does_not_fit(
    title: str, label: str, remedy: str, span: Span | None, notes: Sequence[str] = ()
) -> Diagnostic:
    """E0511: the written rule asks for an output that the file does not have."""
    return Diagnostic(
        code="E0511",
        title=title,
        primary=_at(span, label),
        notes=tuple(notes),
        why="the decision is what the audit is about; it is never guessed from the shape of a file",
        help=remedy,
    )


def threshold_trivial(condition: str, always: bool, remedy: str, span: Span | None) -> Diagnostic:
    """E0512: a probability lies strictly between 0 and 1, so this threshold decides nothing."""
    word = "always" if always else "never"
    return Diagnostic(
        code="E0512",
        title=f"`{condition}` is {word} true: the file's score is a probability",
        primary=_at(span, "the network ends in a sigmoid, so its score lies strictly between 0 and 1"),
        why="everybody gets the same decision, and every fairness property holds for nothing",
        help=remedy,
    )


def unknown_format(path: str, wanted: str | None, span: Span | None) -> Diagnostic:
    """E0513: neither the word after `from` nor the extension names a format that is read; or it is a pickle."""
    named = f"the format `{wanted}` is not read" if wanted else f"the format of `{short_path(path)}` is not known"
    pickled = wanted is None and is_pickle(path)
    return Diagnostic(
        code="E0513",
        title=f"`{short_path(path)}` is a pickle, which is not opened" if pickled else named,
        primary=_at(span),
        why="a pickle is a program, and whoever opens it runs it"
        if pickled
        else "a file is read as what it is said to be, never by trying",
        help=opened_by_hand(short_path(path)) if pickled else _FORMATS,
    )


_FORMATS = (
    'write `from "model.onnx"`, `from onnx "..."`, `from linear "model.json"`, `from rules "rules.json"`, '
    '`from xgboost "..."`, `from lightgbm "..."`, `from catboost "..."`, `from keras "..."` or '
    '`from black_box "..."`; other models: export them to ONNX, or write `from callable`'
)


def of_float64(found: Diagnostic) -> Diagnostic:
    """The finding (E0503, E0504, E0514) about a file that takes float64, for which exporters write other steps."""
    advice = "export it with float32 inputs, as `to_onnx(model, X[:1].astype(numpy.float32))`"
    return replace(
        found,
        notes=(*found.notes, "the file takes float64, for which exporters write other steps than for float32"),
        help=f"{advice}, or give the estimator to `fairdsl.init` or `fairdsl.check` in Python; else {found.help}",
    )


def cannot_run(path: str, reason: str, span: Span | None = None) -> Diagnostic:
    """E0514: onnxruntime refuses the file, or it changed while the audit ran."""
    return Diagnostic(
        code="E0514",
        title=f"`{short_path(path)}` cannot be run to replay what was found",
        primary=_at(span, "needed to confirm a decision on the original file"),
        notes=(reason,),
        why="no violation is reported that the deployed file does not show as well",
        help="export the model for a version that the installed onnxruntime knows",
    )


def rules_document(path: str, reason: str, place: Span | None, named: Span | None) -> Diagnostic:
    """E0515: the JSON document is not one of rules; ``place`` is where, ``named`` where the spec names the file."""
    return Diagnostic(
        code="E0515",
        title=f"`{short_path(path)}` does not describe a list of rules",
        primary=_at(place or named, reason),
        secondary=(Label(named, "read as rules"),) if place is not None and named is not None else (),
        why="a rule that is missing, misread or passed over decides about somebody",
        help='write `{"rules": [{"if": "age < 18", "then": "reject"}], "otherwise": "grant"}`, or a `dnf` or `cnf` '
        'with `"then"` and `"otherwise"`',
    )


def function_needed(model: str, span: Span | None) -> Diagnostic:
    """E0516: the model is a Python function, and none was given."""
    return Diagnostic(
        code="E0516",
        title=f"`{model[:30]}` is a Python function, and none was given",
        primary=_at(span, "only a caller from Python can give it"),
        why="a spec says what a model decides about; the function itself is not in it",
        help=f'call `fairdsl.check(SPEC, callables={{"{model}": function}})` or `fairdsl.search` from Python; to audit '
        "a file from the command line, write `from` and its path",
    )


def no_answer(model: str, does: str, note: str | None, span: Span | None) -> Diagnostic:
    """E0517: what a black box answers stands for no decision, or it raises an exception."""
    return Diagnostic(
        code="E0517",
        title=f"`{model[:30]}` gives no answer that can be read",
        primary=_at(span, "a black box: its answers are the model"),
        notes=(f"it {does}",) if note is None else (f"it {does}", note),
        why="a decision that is guessed in its place would be another model's",
        help="`score` wants one finite number for each individual, `probability` one from 0 to 1 or two, `highest "
        "score` one for each outcome, `class` one whole number; without a rule the answers name the outcomes",
    )


def not_steady(
    model: str, differing: str, span: Span | None, what: str = "a black box: its answers are the model"
) -> Diagnostic:
    """E0518: a model that answers differently when it is asked again."""
    return Diagnostic(
        code="E0518",
        title=f"`{model[:30]}` is non-deterministic",
        primary=_at(span, what),
        notes=(differing,),
        why="two people who are decided differently by chance say nothing about what differs between them",
        help="fix the seed of every call, switch dropout off, and let no individual's answer depend on the others in "
        "the batch",
    )


def root_rounded(path: str, nodes: Sequence[str], span: Span | None) -> Diagnostic:
    """W0701: what nodes compute of constants, or as tables, is irrational: roots, powers, exponentials, logarithms."""
    return Diagnostic(
        code="W0701",
        title="irrational numbers of the file are rounded to float64",
        primary=_at(span, f"{listed(nodes, 4)} in `{short_path(path)}`"),
        why="exact claims are about the model with roots, powers, exponentials and logarithms of its constants and of "
        "whole numbers rounded to 53 bits, closer than the deployed float32",
        help="fold a normalisation into the weights before exporting to have no root in the file",
    )


def logistic_assumed(path: str, output: str, clause: WhenProbability) -> Diagnostic:
    """W0702: `probability` asked of a raw score; the path is empty for a formula in the spec."""
    what = "formula" if not path else "file" if output else "document"
    threshold = f"{clause.relation.value} {show_number(clause.threshold)}"
    half = 2 * clause.threshold == 1
    write = "" if half else "write "
    logit = f"write `score {clause.relation.value} 0` if" if half else "leave the rule as it is if"
    return Diagnostic(
        code="W0702",
        title=f"`probability` is read as the logistic of the {what}'s raw score",
        primary=_at(
            clause.span,
            f"the output `{output}` of `{short_path(path)}` is not a sigmoid or softmax"
            if output
            else "the sum itself is not a probability: it is taken as the logit of one",
        ),
        why="a score that is meant as the probability itself would be misread, and everybody decided by another rule",
        help=f"{logit} the raw score is a logit, or {write}`score {threshold}` if it is a probability",
    )


def asked_as_black_box(path: str, reason: str, unread: Diagnostic, span: Span | None) -> Diagnostic:
    """W0707: the file runs and cannot be read exactly, as ``unread`` says, so it is only asked."""
    remedy = (unread.help or "").removesuffix(f"; {_ONLY_RUN}")
    advice = "" if remedy.startswith((_READ_OPERATORS, _WITHOUT)) else f"for proofs {remedy}; "
    return Diagnostic(
        code="W0707",
        title=f"`{short_path(path)}` is queried as a black box",
        primary=_at(span, "it cannot be read exactly"),
        notes=(reason,),
        why="nothing is proved of its formula: it is searched for violations, sampled, run on rows and small domains",
        help=advice + 'write `from black_box "..."` to accept this, or `from onnx "..."` to have an error instead',
    )


def _short(name: str) -> str:
    return name if len(name) <= 30 else name[:27] + "..."
