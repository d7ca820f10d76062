"""The metrics of the language: what the lines of ``prelude/*.fair`` say, and nothing about any of them anywhere else.

docs/semantics.md, section 4, has the definitions. Another library's name is an alias exactly where the quantity is the
same: Fairlearn compares all groups with each other, AIF360 everybody else with a privileged group. Where both use one
name, it is Fairlearn's quantity in a property without ``privileged`` and AIF360's in one with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from fairdsl.ir.metric import Alias, Comparison, Library, Metric
from fairdsl.ir.question import Quantity
from fairdsl.prelude.terms import Words, metric_of, term_of
from fairdsl.resources import prelude_file, text_of
from fairdsl.source import SourceFile
from fairdsl.syntax import tree

#: The files, in the order of the pages that list metrics, and who coined the other names in them.
_FILES = (("metrics.fair", None), ("fairlearn.fair", Library.FAIRLEARN), ("aif360.fair", Library.AIF360))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairMetric:
    """A number about pairs of individuals: a share of what :class:`~fairdsl.ir.question.Pair` asks about, or the
    largest gap of their scores."""

    #: The name in specs, reports and documents.
    name: str
    #: What is asked of the question about pairs.
    quantity: Quantity
    #: The best value.
    ideal: Fraction
    #: In words.
    meaning: str

    @property
    def is_share(self) -> bool:
        """Whether it is a share of units, and lies in [0, 1]."""
        return self.is_rate

    @property
    def is_rate(self) -> bool:
        """Whether it is shown in percent."""
        return self.quantity is not Quantity.MAX_SCORE_GAP

    @property
    def of_people(self) -> bool:
        """Whether it is about individuals, and not about units: see :class:`fairdsl.ir.question.Individually`."""
        return self.quantity in (Quantity.AFFECTED_RATE, Quantity.REDRAW_DISAGREEMENT)


#: Whatever a name may represent.
Named = Metric | PairMetric

#: The pair metrics.
PAIR_METRICS: Mapping[str, PairMetric] = MappingProxyType(
    {
        share.name: share
        for share in (
            PairMetric(
                name="fair_share",
                quantity=Quantity.FAIR_SHARE,
                ideal=Fraction(1),
                meaning="share of the units in question that no admissible pair treats unfairly: of the assignments of "
                "the attributes that do not differ, or with `within` or `regardless of` of the individuals",
            ),
            PairMetric(
                name="discrimination_rate",
                quantity=Quantity.DISCRIMINATION_RATE,
                ideal=Fraction(0),
                meaning="exactly 1 - fair_share",
            ),
            PairMetric(
                name="max_score_gap",
                quantity=Quantity.MAX_SCORE_GAP,
                ideal=Fraction(0),
                meaning="largest `abs(score(a) - score(b))` of all admissible pairs",
            ),
            PairMetric(
                name="affected_rate",
                quantity=Quantity.AFFECTED_RATE,
                ideal=Fraction(0),
                meaning="share of the individuals in question who are themselves in a violation, and not only in a "
                "unit with one",
            ),
            PairMetric(
                name="redraw_disagreement",
                quantity=Quantity.REDRAW_DISAGREEMENT,
                ideal=Fraction(0),
                meaning="probability that an individual drawn from the distribution, and another one drawn from it "
                "with the same values of all that does not differ, get different decisions",
            ),
        )
    }
)

#: Those of them that are shares.
SHARES = tuple(name for name, metric in PAIR_METRICS.items() if metric.is_share)


@cache
def metrics() -> tuple[Metric, ...]:
    """All metrics of groups: those that compare all groups with each other, then AIF360's, which compare everybody else
    with a privileged group. They are read once; raises ValueError where a line is none.
    """
    from fairdsl.syntax.parse import parse  # its parser is not loaded by whoever only prints help

    found: list[Metric] = []
    for file, library in _FILES:
        path = prelude_file(file)
        result = parse(SourceFile(str(path), text_of(path)))
        if result.spec is None or not result.complete:
            raise ValueError(f"{path} cannot be read")
        for item in result.spec.items:
            if not isinstance(item, tree.Metric):
                raise ValueError(f"{path} has more in it than metrics")
            if isinstance(item.definition, tree.Reference):
                _name_again(found, item.definition.name.text, Alias(name=item.name.text, library=library))
            else:
                term = term_of(item.definition, Words())
                found.append(metric_of(item.name.text, item.definition, term, " ".join(item.doc)))
    return tuple(found)


def _name_again(found: list[Metric], name: str, alias: Alias) -> None:
    """Another name: Fairlearn's is of all groups, AIF360's beside a privileged one, the language's own of both."""
    signed = {Library.FAIRLEARN: (False,), Library.AIF360: (True,), None: (False, True)}[alias.library]
    places = [place for place, each in enumerate(found) if each.name == name and each.signed in signed]
    if not places:
        raise ValueError(f"`{alias.name}` is another name for what is not defined")
    for place in places:
        found[place] = replace(found[place], aliases=(*found[place].aliases, alias))


@cache
def _by_written_name() -> dict[str, dict[bool, Metric]]:
    """Of every name that can be written, what it means beside a privileged group (True) and without one (False)."""
    found: dict[str, dict[bool, Metric]] = {}
    for metric in metrics():
        for name in (metric.name, *(alias.name for alias in metric.aliases)):
            meant = found.setdefault(name, {})
            if metric.signed in meant or name in PAIR_METRICS:
                raise ValueError(f"`{name}` is the name of two metrics")
            meant[metric.signed] = metric
    return found


def registered(name: str, *, privileged: bool = False) -> Named | None:
    """What a name or an alias stands for, in a question with or without a privileged group; None: no metric has it."""
    if name in PAIR_METRICS:
        return PAIR_METRICS[name]
    meant = _by_written_name().get(name)
    if meant is None:
        return None
    return meant[privileged] if privileged in meant else meant[not privileged]


def metric_named(name: str, *, privileged: bool = False) -> Metric:
    """The metric of groups of that name or alias. Raises ValueError where there is none."""
    found = registered(name, privileged=privileged)
    if not isinstance(found, Metric):
        raise ValueError(f"`{name}` is not a metric of groups")
    return found


def comparison_of(name: str, definition: str | None) -> Comparison | None:
    """How a metric compares rates: one of the language by its name, any other by its expression; None: not at all."""
    if definition is not None:
        if definition.startswith("mean(score"):
            return Comparison.EVERY
        words = {each.value.word: each for each in Comparison}
        return words.get(definition.removeprefix("mean(").partition("(")[0])
    plain, _, model = name.partition(" of ")  # `impact_ratio of new` is one as well, and a difference of two is none
    known = registered(plain if model.isidentifier() else name)
    return known.comparison if isinstance(known, Metric) else None


def ideal_of(name: str, definition: str | None) -> Fraction | None:
    """The best value of a metric; None where there is none."""
    if name in PAIR_METRICS:
        return PAIR_METRICS[name].ideal
    comparison = comparison_of(name, definition)
    return None if comparison is None else comparison.value.ideal


def known_metrics() -> tuple[str, ...]:
    """All names that can be written, the aliases behind the names."""
    names = dict.fromkeys((*PAIR_METRICS, *(metric.name for metric in metrics())))
    return (*names, *(name for name in _by_written_name() if name not in names))


def nearest(metric: Metric) -> Metric:
    """One of the same rate that compares all groups with each other, whoever is privileged; else of the decisions."""
    like = Comparison.RATIO if metric.comparison is Comparison.QUOTIENT else Comparison.GAP
    unsigned = [each for each in metrics() if each.comparison is like]
    return next((each for each in unsigned if each.rate == metric.rate), unsigned[0])
