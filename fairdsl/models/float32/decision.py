"""How far a file's decisions can be from those of its model: by how much the model's scores may be off for that.

The file's output is analysed over a box of individuals; what decides - a score, the lead of one probability over
another, the scores behind a label - is found in it with its error. That this is the model's own score, up to a factor,
is checked on individuals of the box: where the two readings of the file differ, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput, Input
from fairdsl.ir.model import ByHighest, ByThreshold, Deployed, Model, Readout
from fairdsl.models.features import rounded
from fairdsl.models.float32.choosing import ranked
from fairdsl.models.float32.depends import features_read
from fairdsl.models.float32.directed import Ends, difference
from fairdsl.models.float32.feeds import fed_box, fed_points
from fairdsl.models.float32.precision import OUTWARD, carried_and_rounded, gamma
from fairdsl.models.float32.values import Choice, Logits, Rounded
from fairdsl.models.float32.walk import analysed
from fairdsl.models.logit import logit
from fairdsl.models.onnx_import.file import RawGraph, read_file
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above, float_below

Floats = NDArray[np.float64]

#: Individuals on which both readings of the file are compared.
_COMPARED = 24
#: What the model's score may be, as a multiple of what decides in the file.
_FACTORS = (Fraction(1), Fraction(-1), Fraction(2), Fraction(-2), Fraction(1, 2), Fraction(-1, 2))


@dataclass(frozen=True, slots=True)
class Slack:
    """The file decides as the exact rule does about everybody for whom no change of the scores by at most ``decision``
    (one number a score) changes what the rule says.

    ``score``: how far the file's one score may be from the exact one; None where its output is not the score.
    ``near``: which share of some individuals such a change of the scores may decide otherwise.
    """

    decision: tuple[Fraction, ...]
    score: Fraction | None
    near: float


@dataclass(frozen=True, slots=True)
class _Decisive:
    """What decides, [individuals, k]: the numbers, and how far they may be off. ``above``: one number against 0."""

    ends: Ends
    error: Floats
    raw: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Analysed:
    """A model's file, analysed over the box of all individuals whose attributes have these values."""

    model: Model
    deployed: Deployed
    sets: tuple[ValueSet, ...]
    raw: RawGraph
    bounds: Mapping[str, Rounded]


def analysis_of(model: Model, sets: Sequence[ValueSet]) -> Analysed | None:
    """The analysis; None where no file is deployed, or nobody is in the box."""
    deployed = model.deployed
    if deployed is None or _is_given_nan(deployed) or any(values.count == 0 for values in sets):
        return None
    raw = _opened(deployed.path, deployed.sha256)
    return None if raw is None else Analysed(model, deployed, tuple(sets), raw, analysed(raw, fed_box(deployed, sets)))


def slack(file: Analysed) -> Slack | None:
    """For all individuals of the box; None where no bound is known."""
    points = _some(file.sets)
    somebody = fed_points(file.deployed, points)
    with np.errstate(all="ignore"):
        found = _decisive(file.model, file.bounds.get(file.deployed.output))
        sample = _decisive(file.model, analysed(file.raw, somebody).get(file.deployed.output))
        if found is None or sample is None or not np.isfinite(found.error).all():
            return None
        factor = _factor(file.model, sample, points)
    if factor is None:
        return None
    by_score = tuple(_fraction(error) * abs(factor) for error in found.error[0].tolist())
    raw_error = None if found.raw is None or factor != 1 or not np.isfinite(found.raw).all() else found.raw
    return Slack(
        by_score,
        None if raw_error is None else _fraction(float(raw_error.max())),
        float(_near(sample, found.error[0]).mean()),
    )


def rounds_nothing(model: Model, sets: Sequence[ValueSet]) -> bool:
    """Whether the deployed file is known to decide as the exact rule about everybody: it computes without rounding."""
    file = analysis_of(model, sets)
    found = None if file is None else slack(file)
    return found is not None and not any(found.decision)


def rounding_decides(model: Model, points: Sequence[tuple[Fraction, ...]]) -> NDArray[np.bool_] | None:
    """Which individuals [n] the file may decide otherwise than the exact rule does, by rounding alone; None: not known.

    ValueError where no file is deployed.
    """
    deployed = model.deployed
    if deployed is None:
        raise ValueError("there is no file that rounds")
    raw = None if _is_given_nan(deployed) else _opened(deployed.path, deployed.sha256)
    if raw is None:
        return None
    with np.errstate(all="ignore"):
        found = _decisive(model, analysed(raw, fed_points(deployed, points)).get(deployed.output))
        if found is None or not np.isfinite(found.error).all():
            return None
        return _near(found, found.error)


def _is_given_nan(deployed: Deployed) -> bool:
    """Whether the file is given NaN, of which no bound is known."""
    return any(feed.missing for feed in deployed.feeds)


def _near(some: _Decisive, error: Floats) -> NDArray[np.bool_]:
    """Whom a change of the scores by the error, [n, k] or [k], may decide otherwise."""
    low, high = some.ends
    if low.shape[1] == 1:
        return np.asarray(((low <= error) & (high >= -error))[:, 0], dtype=np.bool_)
    ahead = np.sort(low - error, axis=1)[:, -1]
    return np.asarray(((high + error) >= ahead[:, None]).sum(axis=1) > 1, dtype=np.bool_)


def attributes_read(file: Analysed) -> frozenset[int] | None:
    """The attributes on which the file's output can depend for individuals of the box; None: not known.

    Individuals who differ only in others are computed alike, rounding included.
    """
    deployed = file.deployed
    if deployed.output not in file.bounds:
        return None
    widths = {feed.name: len(feed.features) for feed in deployed.feeds}
    with np.errstate(all="ignore"):
        read = features_read(file.raw, deployed.output, file.bounds, widths)
    found: set[int] = set()
    for feed in deployed.feeds:
        for feature, counts in zip(feed.features, read[feed.name].tolist(), strict=True):
            if counts:
                found.update(*(_attributes(item) for item, _ in deployed.features[feature].terms))
    return frozenset(found)


def _attributes(item: Input) -> frozenset[int]:
    match item:
        case AttributeInput(attribute):
            return frozenset({attribute})
        case IndicatorInput(predicate):
            return frozenset(variable.attribute for variable in variables(predicate))


def _fraction(error: float) -> Fraction:
    return Fraction(error * OUTWARD) if error else Fraction(0)


@lru_cache(maxsize=8)
def _opened(path: str, digest: str) -> RawGraph | None:
    """The file, if it is still the one that was read."""
    try:
        raw = read_file(path, None)
    except DiagnosticError:
        return None
    return raw if raw.sha256 == digest else None


def _some(sets: Sequence[ValueSet]) -> list[tuple[Fraction, ...]]:
    """Individuals of the box, drawn with a fixed seed."""
    rng = np.random.default_rng(0)
    return [tuple(_drawn(values, rng) for values in sets) for _ in range(_COMPARED)]


def _drawn(values: ValueSet, rng: np.random.Generator) -> Fraction:
    if isinstance(values, Finite):
        return Fraction(values.values[int(rng.integers(len(values.values)))])
    low = values.low if values.low is not None else min(values.high or Fraction(0), Fraction(0)) - 100
    high = values.high if values.high is not None else max(low, Fraction(0)) + 100
    # A float64 number, which both evaluations take as it is.
    share = Fraction(int(rng.integers(1 << 10)), 1 << 10)
    between = Fraction(float(low + (high - low) * share))
    return min(max(between, low), high)


def _decisive(model: Model, output: Rounded | None) -> _Decisive | None:
    """What decides; None where that is not known."""
    deployed = model.deployed
    assert deployed is not None
    if output is None:
        return None
    if isinstance(model.rule, ByHighest):
        return _highest(model, deployed, output)
    match deployed.readout:
        case Readout.LABEL:
            return None if output.choice is None else _second_over_first(output.choice)
        case Readout.DIFFERENCE:
            return _difference(output)
        case Readout.SCORE | Readout.CHANNEL:
            channel = deployed.channel if deployed.readout is Readout.CHANNEL else 0
            return _against(output, channel, deployed.threshold or Fraction(0))
    return None


def _highest(model: Model, deployed: Deployed, output: Rounded) -> _Decisive | None:
    """One number an outcome, of which the highest decides."""
    if deployed.readout is Readout.LABEL and output.choice is not None:
        choice = output.choice
        order = _order(deployed, choice.labels, len(model.outcomes))
    elif deployed.readout is Readout.HIGHEST:
        scores, gap = ranked(output)
        choice = Choice(scores, tuple(range(scores.low.shape[1])), gap)
        order = _order(deployed, choice.labels, len(model.outcomes))
    else:
        return None
    if order is None:
        return None
    scores = choice.scores
    ends = scores.low[:, order], scores.high[:, order]
    return _Decisive(ends, scores.error[:, order] + choice.gap)


def _order(deployed: Deployed, labels: Sequence[int | str], count: int) -> list[int] | None:
    """The place of each outcome's label; None where an outcome has none, or a label no outcome."""
    wanted = list(deployed.labels) or list(range(count))
    if len(labels) != count or sorted(map(str, wanted)) != sorted(map(str, labels)):
        return None
    places = {str(label): place for place, label in enumerate(labels)}
    return [places[str(label)] for label in wanted]


def _second_over_first(choice: Choice, raw: bool = False) -> _Decisive | None:
    scores = choice.scores
    if scores.low.shape[1] != 2:
        return None
    first, second = ((end[:, :1], end[:, 1:]) for end in scores.ends)
    ends = difference((first[1], second[1]), (first[0], second[0]))
    error = (scores.error[:, :1] + scores.error[:, 1:] + choice.gap) * OUTWARD
    computed = carried_and_rounded(*ends, error, scores.precision) if raw else None
    return _Decisive(ends, error, computed)


def _difference(output: Rounded) -> _Decisive | None:
    """The second column less the first one."""
    scores, gap = ranked(output)
    return _second_over_first(Choice(scores, (0, 1), gap), raw=output.logits is None)


def _against(output: Rounded, channel: int, threshold: Fraction) -> _Decisive | None:
    """One column against a threshold, which is rounded to the output's type."""
    columns = (array.reshape(len(array), -1) for array in (output.low, output.high, output.error))
    low, high, error = (array[:, channel : channel + 1] for array in columns)
    if not low.shape[1] or not output.dtype.startswith("float"):
        return None
    stored = Fraction(float(rounded(threshold, output.dtype)))
    if output.logits is not None:
        return _probability(output.logits, channel, threshold, stored)
    ends = difference((low, high), (np.full((1, 1), float_below(threshold)), np.full((1, 1), float_above(threshold))))
    return _Decisive(ends, (error + float_above(abs(stored - threshold))) * OUTWARD, error)


def _probability(logits: Logits, channel: int, threshold: Fraction, stored: Fraction) -> _Decisive | None:
    """A probability against a threshold: the score behind it against the threshold's logit."""
    scores = logits.scores
    low, high, error = (array.reshape(len(array), -1) for array in (*scores.ends, scores.error))
    slip = Fraction(logits.slip)
    if logits.joint:
        if low.shape[1] != 2:
            return None
        other = 1 - channel
        low, high = difference(
            (low[:, channel : channel + 1], high[:, channel : channel + 1]),
            (low[:, other : other + 1], high[:, other : other + 1]),
        )
        error = error.sum(axis=1, keepdims=True)
        slip += Fraction(float(gamma(8, scores.precision)))
    else:
        low, high, error = (array[:, channel : channel + 1] for array in (low, high, error))
    if stored - slip <= 0 or stored + slip >= 1 or not 0 < threshold < 1:
        return None
    exact, below, above = logit(threshold), logit(stored - slip), logit(stored + slip)
    # The runtime may round the exponent once more, relative to its size.
    wide = max(abs(end) for end in (*below, *above)) * Fraction(1, 2**22)
    shift = max(above.high - exact.low, exact.high - below.low) + wide
    ends = difference((low, high), (np.full((1, 1), float_below(exact.low)), np.full((1, 1), float_above(exact.high))))
    return _Decisive(ends, (error + float_above(shift)) * OUTWARD)


def _factor(model: Model, sample: _Decisive, points: Sequence[tuple[Fraction, ...]]) -> Fraction | None:
    """The model's scores over what decides, the same for everybody who was looked at."""
    rows = np.array([[float(value) for value in point] for point in points])
    settled = BatchEvaluator(model).settled(rows)
    scores, errors = settled.scores, settled.errors
    if isinstance(model.rule, ByThreshold):
        middle = (model.rule.low + model.rule.high) / 2
        wide = float_above(model.rule.high - model.rule.low)
        scores = scores - float(middle)
        errors = errors + wide + np.abs(scores) * 2.0**-50 + abs(float(middle)) * 2.0**-50
        low, high = sample.ends
    else:
        # A constant that all scores share changes no decision.
        low, high = difference(sample.ends, (sample.ends[0][:, :1], sample.ends[1][:, :1]))
        errors = errors + errors[:, :1] + (np.abs(scores) + np.abs(scores[:, :1])) * 2.0**-50
        scores = scores - scores[:, :1]
    if scores.shape != low.shape or not np.isfinite(errors).all():
        return None
    for factor in _FACTORS:
        if factor < 0 and isinstance(model.rule, ByHighest):
            continue
        ends = low * float(factor), high * float(factor)
        least, most = np.minimum(*ends), np.maximum(*ends)
        loose = errors + (np.abs(least) + np.abs(most)) * 2.0**-50 + 2.0**-1000
        if ((scores - loose <= most) & (least <= scores + loose)).all():
            return factor
    return None
