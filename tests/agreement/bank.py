"""The questions that every registered engine is asked, and the answers by definition.

A *kind* is a way to draw small problems with a way to hold a verdict against the definition. Every engine is asked
problems of every kind, as they were drawn or simpler ones where it refuses them. So a new engine needs a line in
``answered`` of the kinds that it answers; a new kind of question needs an entry in ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Rows, Sample
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Excluding, GroupMetric, Pair, PairUnder, Precision, Quantity, SameDecision
from fairdsl.prelude import metric_named
from fairdsl.verdict import Estimated, Holds, Shares, Vacuous, Value, Verdict, Violated
from tests import oracle
from tests.agreement import engines, group_truth
from tests.leaf_boxes.box_problems import any_problems, box_problems
from tests.naive_metrics import NAIVE
from tests.naive_terms import terms
from tests.rates.laws import masses, random_laws
from tests.rule_strategies import rule_models, rule_problems
from tests.strategies import attributes, confident_problems, models, predicates, problems, questions
from tests.tree_strategies import tree_models, tree_problems
from tests.worst_pairs.drawn import worst_pairs

F = Fraction
#: What estimates are drawn for: twice as near takes four times as long.
WITHIN = F(1, 5)


@dataclass(frozen=True, kw_only=True)
class Least:
    """Of the problems of a kind, the shares that an engine at least accepts, and decides of those accepted.

    ``verdicts`` are classes of verdicts that have to be among its answers.
    """

    accepted: float = 1.0
    decided: float = 1.0
    verdicts: tuple[type, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Problems of one kind. ``wrong`` says what is wrong with a verdict, given what is known of the problem.

    ``share`` of the profile's examples are drawn. ``simpler`` are the questions that an engine is asked instead, in
    turn, where it refuses the one that was drawn. ``answered``: who has to answer such problems, and how many.
    ``written``: the formats of solver files that have to.
    """

    name: str
    problems: st.SearchStrategy[Problem]
    known: Callable[[Problem], object]
    wrong: Callable[[Problem, Verdict, object], str | None]
    answered: Mapping[str, Least]
    written: Mapping[str, Least] = field(default_factory=dict)
    share: float = 1.0
    simpler: Callable[[Problem], Iterator[Problem]] = field(default=lambda drawn: iter(()))


# ---- pairs -----------------------------------------------------------------------------------------


def about_one_individual(drawn: Problem) -> Problem:
    """The same without what leaf boxes refuse: relaxations, conditions that name ``a`` or ``b``, gaps of scores."""
    pair = drawn.question
    assert isinstance(pair, Pair), "drawn problems compare pairs"
    return replace(drawn, question=replace(pair, relax=(), pair_target=TRUE, demand=SameDecision()))


def simpler_pairs(drawn: Problem) -> Iterator[Problem]:
    """Whether the demand holds, where shares are refused; and one individual's question, where pairs are."""
    yield replace(drawn, quantity=Quantity.HOLDS)
    yield about_one_individual(drawn)


def wrong_pairs(problem: Problem, verdict: Verdict, known: object) -> str | None:
    assert isinstance(known, oracle.Truth)
    return engines.disagreement(problem, verdict, known)


pairs = partial(Kind, known=oracle.truth, wrong=wrong_pairs, simpler=simpler_pairs)


# ---- rows of a table, and samples ------------------------------------------------------------------


@st.composite
def rows_of(draw: st.DrawFn, columns: tuple[Attribute, ...], *, has_label: bool = False, least: int = 0) -> Rows:
    """Rows of values of the columns, also such as lie outside the domain's condition."""
    one = st.tuples(*(st.sampled_from([float(value) for value in column.values or ()]) for column in columns))
    values = draw(st.lists(one, min_size=least, max_size=12).filter(bool))
    sample = Sample(path="rows.csv", sha256="00" * 32, values=ExactRows.of_floats(values))
    return Rows(name="rows", columns=columns, sample=sample, has_label=has_label)


@st.composite
def shares_of_rows(draw: st.DrawFn) -> Problem:
    drawn = draw(problems())
    assert isinstance(drawn.question, Pair)
    population = draw(rows_of(drawn.domain.attributes))
    pair = replace(drawn.question, demand=SameDecision())
    return replace(drawn, question=PairUnder(pair=pair), population=population)


def fair_rows(problem: Problem) -> tuple[oracle.Truth, int, int]:
    """What is true of all pairs; how many rows lie in units in question, and how many of those in fair ones."""
    assert isinstance(problem.question, PairUnder)
    assert isinstance(problem.population, Rows)
    plain = replace(problem, question=problem.question.pair, population=None)
    truth = oracle.truth(plain)
    rows = [row for row in problem.population.sample.values.points() if row in truth.asked]
    return truth, len(rows), sum(row not in truth.unfair for row in rows)


def wrong_rows(problem: Problem, verdict: Verdict, known: object) -> str | None:
    truth, inside, fair = known  # type: ignore[misc]
    if not inside:
        return None if isinstance(verdict, Vacuous) else f"nobody is in question, and {verdict}"
    if isinstance(verdict, Shares):
        said = (verdict.certified, verdict.falsified, verdict.total)
        right = (F(fair, inside), F(inside - fair, inside), inside)
        return None if said == right else f"{right} fair, unfair and in all, not {said}"
    # Whether every row lies in a fair unit is what `holds` is about; witnesses are violations by the definition.
    holds = replace(truth, violations=[] if fair == inside else truth.violations)
    plain = replace(problem, question=problem.question.pair, quantity=Quantity.HOLDS)  # type: ignore[union-attr]
    if isinstance(verdict, Violated) and fair == inside:
        return "violated, and every row lies in a fair unit"
    return engines.disagreement(plain, verdict, holds)


# ---- shares of people under a distribution ---------------------------------------------------------


@st.composite
def shares_of_laws(draw: st.DrawFn) -> Problem:
    law = draw(random_laws())
    where = draw(st.one_of(st.just(TRUE), st.just(TRUE), predicates(law.columns)))
    people = Domain(name="People", attributes=law.columns, where=where)
    model = draw(st.one_of(models(people, True, widths=(0, 2)), tree_models(people, False), rule_models(people)))
    return Problem(
        name="p",
        domain=people,
        model=model,
        question=PairUnder(pair=draw(questions(people, gap=False))),
        quantity=draw(st.sampled_from([Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE])),
        population=law,
    )


def simpler_people(drawn: Problem) -> Iterator[Problem]:
    """The same without distances and conditions on the two."""
    assert isinstance(drawn.question, PairUnder)
    yield replace(drawn, question=PairUnder(pair=replace(drawn.question.pair, relax=(), pair_target=TRUE)))


def fair_people(problem: Problem) -> tuple[Fraction, Fraction]:
    """The masses of all whose units are in question, and of those of them whose units are fair."""
    assert isinstance(problem.population, Network)
    truth = oracle.truth(problem.of_everybody)
    inside = fair = F(0)
    cells = problem.population.cells
    for places, mass in masses(problem.population).items():
        point = tuple(cells[column][place].low for column, place in enumerate(places))
        if point in truth.asked:
            inside, fair = inside + mass, fair + mass * (point not in truth.unfair)
    return inside, fair


def wrong_people(problem: Problem, verdict: Verdict, known: object) -> str | None:
    inside, fair = known  # type: ignore[misc]
    if isinstance(verdict, Vacuous):
        return f"vacuous, and {inside} are in question" if inside else None
    if not isinstance(verdict, Shares):
        return f"{verdict} is not a share"
    if not inside:
        return None if verdict.undecided else f"nobody is in question, and {verdict}"
    if verdict.certified <= fair / inside <= 1 - verdict.falsified:
        return None
    return f"{fair / inside} outside [{verdict.certified}, {1 - verdict.falsified}]"


def wrong_gap(problem: Problem, verdict: Verdict, known: object) -> str | None:
    if isinstance(verdict, Vacuous):
        return f"vacuous, and the gap is {known}" if known is not None else None
    if not isinstance(verdict, Value):
        return f"{verdict} is not a number"
    if isinstance(known, Fraction) and verdict.low <= known <= verdict.high:
        return None
    return f"{known} outside [{verdict.low}, {verdict.high}]"


@st.composite
def estimates(draw: st.DrawFn) -> Problem:
    drawn = draw(problems(Quantity.FAIR_SHARE))
    question = replace(drawn.question, demand=SameDecision())  # type: ignore[arg-type]
    return replace(drawn, question=question, precision=Precision(within=WITHIN, confidence=F(10**8 - 1, 10**8)))


def wrong_estimate(problem: Problem, verdict: Verdict, known: object) -> str | None:
    """Whoever knows the share for sure may say that instead."""
    assert isinstance(known, oracle.Truth)
    if not isinstance(verdict, Estimated):
        return engines.disagreement(problem, verdict, known)
    if not known.total:
        return f"nobody is in question, and {verdict}"
    value, (low, high) = verdict.estimate.value, verdict.estimate.interval
    if not low <= known.fair_share <= high:
        return f"fair share {known.fair_share} outside [{low}, {high}]"
    if max(high - value, value - low) > WITHIN and verdict.reason is None:
        return "the interval is wider than it was asked for, and no reason is given"
    return next(
        (f"{w} is not a violation" for w in verdict.witnesses if (w.a.point, w.b.point) not in known.violations), None
    )


# ---- groups ----------------------------------------------------------------------------------------


@st.composite
def group_questions(draw: st.DrawFn, columns: tuple[Attribute, ...], has_label: bool) -> GroupMetric:
    people = range(len(columns) - has_label)
    if draw(st.booleans()):
        metrics = [known for known, naive in NAIVE.items() if has_label or not naive.label]
        name, signed = draw(st.sampled_from(metrics))
        metric = metric_named(name, privileged=signed)
    else:
        metric, naive = draw(terms([F(value) for value in columns[-1].values or ()] if has_label else []))
        signed = naive.signed
    across = draw(st.lists(st.sampled_from(people), min_size=1, max_size=min(2, len(people)), unique=True))
    others = [column for column in people if column not in across]
    few = st.lists(st.sampled_from(others), max_size=1) if others else st.just([])
    deserving = F(draw(st.sampled_from(columns[-1].values or ())))
    return GroupMetric(
        metric=metric,
        across=tuple(across),
        population="people",
        given=draw(st.one_of(st.just(TRUE), predicates(columns[: len(people)]))),
        given_each=tuple(draw(few)),
        deserving=deserving if has_label else None,
        privileged=tuple(F(draw(st.sampled_from(columns[at].values or ()))) for at in across) if signed else None,
        excluding=draw(st.sampled_from([None, *[Excluding(rows=None)] * 3])),
        influence=tuple(draw(few)) if draw(st.integers(0, 3)) == 0 else (),
    )


@st.composite
def group_models(draw: st.DrawFn, people: Domain) -> Model:
    """Weighted sums, rules, trees and networks: each engine of laws answers some of them."""
    model = draw(
        st.one_of(
            models(people, True, widths=(0,)),
            models(people, False, widths=(0, 2)),
            rule_models(people),
            tree_models(people, draw(st.booleans())),
        )
    )
    return replace(model, favourable=draw(st.integers(0, len(model.outcomes) - 1)))


@st.composite
def groups_of_laws(draw: st.DrawFn) -> Problem:
    law = draw(random_laws())
    law = replace(law, name="people", has_label=len(law.columns) > 2 and draw(st.booleans()))
    return draw(about_groups(law.columns, law.has_label, st.just(law)))


@st.composite
def groups_of_rows(draw: st.DrawFn) -> Problem:
    columns = tuple(draw(attributes(f"x{place}")) for place in range(draw(st.integers(2, 4))))
    has_label = len(columns) > 2 and draw(st.booleans())
    return draw(about_groups(columns, has_label, rows_of(columns, has_label=has_label, least=4)))


@st.composite
def about_groups(
    draw: st.DrawFn, columns: tuple[Attribute, ...], has_label: bool, population: st.SearchStrategy
) -> Problem:
    own = columns[:-1] if has_label else columns
    where = draw(st.one_of(st.just(TRUE), st.just(TRUE), predicates(own)))
    people = Domain(name="People", attributes=own, where=where)
    return Problem(
        name="p",
        domain=people,
        model=draw(group_models(people)),
        question=draw(group_questions(columns, has_label)),
        quantity=Quantity.METRIC,
        population=draw(population),
    )


def wrong_groups(problem: Problem, verdict: Verdict, known: object) -> str | None:
    assert isinstance(known, group_truth.Truth)
    return group_truth.disagreement(problem, known, verdict)


groups = partial(Kind, known=group_truth.truth, wrong=wrong_groups)


# ---- the bank --------------------------------------------------------------------------------------

EVERY = (Holds, Violated, Shares)

KINDS: list[Kind] = [
    pairs(
        name="pairs",
        problems=problems(),
        share=4,
        answered={
            "enumerate": Least(decided=0.7, verdicts=EVERY),
            "smt": Least(decided=0.7, verdicts=(Holds, Violated)),
            # Half-spaces treat decisions, and models that read conditions on one attribute at a time.
            "intervals": Least(accepted=0.4, decided=0.7, verdicts=EVERY),
            # It never tells when to stop: what it does not refute stays unknown.
            "search": Least(decided=0.05, verdicts=(Violated,)),
        },
        written={
            "smtlib": Least(decided=0.7),
            # Its points are of a wider question: some come to no pair that replays.
            "vnnlib": Least(accepted=0.7, decided=0.3),
            "interval-job": Least(accepted=0.2, decided=0.3),
        },
    ),
    pairs(
        name="trees",
        problems=tree_problems(),
        share=1.5,
        answered={
            "enumerate": Least(),
            "smt": Least(decided=0.9),
            "leaf_boxes": Least(accepted=0.1, decided=0.9),
            "intervals": Least(accepted=0.05, decided=0.5),
        },
    ),
    pairs(
        name="boxes",
        problems=st.one_of(box_problems(Quantity.FAIR_SHARE), any_problems()),
        share=4,
        answered={"enumerate": Least(), "leaf_boxes": Least(accepted=0.5, decided=0.9, verdicts=(Shares,))},
        written={"forest-job": Least(accepted=0.5, decided=0.9)},
    ),
    pairs(
        name="rules",
        problems=rule_problems(),
        share=1,
        answered={"enumerate": Least(), "smt": Least(), "intervals": Least(accepted=0.05, decided=0.5)},
    ),
    pairs(
        name="confident decisions",
        problems=confident_problems(),
        share=1.2,
        answered={"enumerate": Least(verdicts=EVERY), "smt": Least(verdicts=(Holds, Violated))},
    ),
    pairs(
        name="curves",
        problems=problems(widths=(1, 2, 3), curved=True),
        share=1.5,
        answered={"enumerate": Least(decided=0.8)},
    ),
    Kind(
        name="rows",
        problems=shares_of_rows(),
        share=1.5,
        known=fair_rows,
        wrong=wrong_rows,
        answered={"rows": Least(decided=0.3, verdicts=(Holds, Shares))},
    ),
    Kind(
        name="estimates",
        problems=estimates(),
        share=1.5,
        known=oracle.truth,
        wrong=wrong_estimate,
        answered={"sampling": Least(decided=0.3, verdicts=(Estimated,))},
    ),
    groups(
        name="groups of laws",
        problems=groups_of_laws(),
        share=3,
        answered={
            "rates": Least(accepted=0.6, decided=0.3),
            "ssat": Least(accepted=0.2, decided=0.2),
        },
        written={name: Least(accepted=0.2, decided=0.05) for name in ("subset-sum", "sdimacs", "mcc", "dimacs")},
    ),
    Kind(
        name="shares of laws",
        problems=shares_of_laws(),
        share=1.5,
        known=fair_people,
        wrong=wrong_people,
        simpler=simpler_people,
        answered={
            "enumerate": Least(accepted=0.9, decided=0.8, verdicts=(Shares,)),
            "rates": Least(accepted=0.5, decided=0.8, verdicts=(Shares,)),
        },
        written={"population-job": Least(accepted=0.3, decided=0.8)},
    ),
    Kind(
        name="worst pairs",
        problems=worst_pairs(),
        share=1,
        known=lambda asks: oracle.worst_gap(asks.of_pairs),
        wrong=wrong_gap,
        answered={"smt": Least(accepted=0.3, decided=0.8), "leaf_boxes": Least(accepted=0.1, decided=0.8)},
        written={"gap-job": Least(accepted=0.3, decided=0.8)},
    ),
    groups(name="groups of rows", problems=groups_of_rows(), share=1.5, answered={"rows": Least(decided=0.2)}),
]
