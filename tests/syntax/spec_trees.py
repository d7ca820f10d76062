"""Random syntax trees: whatever the language can say, sensible or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from keyword_list import KEYWORDS

from fairdsl.source import SourceFile, Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of

NOWHERE = Span(SourceFile("generated.fair", ""), 0, 0)

#: `not of` is a negation, `influence of` begins an influence, and `given each of` the values of a label `of`: none of
#: them is a metric of a model.
_PHRASES = ("not", "influence", "each")
_PLAIN = ("age", "sex", "a", "b", "approve", "grant", "Applicant", "x_1", "_y")


def node(kind: Any, **fields: Any) -> st.SearchStrategy[Any]:
    """Nodes of a kind, with a field drawn from each strategy given."""
    return st.builds(kind, span=st.just(NOWHERE), **fields)


def several(strategy: st.SearchStrategy[Any], least: int = 1, most: int = 3) -> st.SearchStrategy[Any]:
    """Tuples of a few."""
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


def _names(without: Sequence[str] = ()) -> st.SearchStrategy[tree.Name]:
    words = [word for word in (*_PLAIN, *KEYWORDS) if word not in without]
    return node(tree.Name, text=st.sampled_from(words), quoted=st.just(False))


_letters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters='"')
_words = st.text(_letters, max_size=12)
_bulky = st.sampled_from(["", "a" * 30, "some rather long value"])

names = _names()
#: `favourable when first ...` decides the outcome `favourable`, where `first` is an attribute.
not_when = _names(without=("when",))
outcomes = _names(without=("and", "or", "in", "reads"))
quoted_names = node(tree.Name, text=_words, quoted=st.just(True))
value_names = names | quoted_names
texts = node(tree.Text, value=_words | _bulky)
docs = several(_words.map(lambda line: line.rstrip()), least=0, most=2)


@st.composite
def numbers(draw: st.DrawFn, *, signed: bool = True) -> tree.Number:
    """Numbers as they may be written."""
    digits = str(draw(st.integers(0, 9999)))
    if draw(st.booleans()):
        digits += "." + str(draw(st.integers(0, 999)))
    sign = "-" if signed and draw(st.booleans()) else ""
    percent = draw(st.booleans())
    value = Fraction(sign + digits) / (100 if percent else 1)
    return tree.Number(value=value, text=sign + digits + "%" * percent, percent=percent, span=NOWHERE)


@st.composite
def named_numbers(draw: st.DrawFn) -> tree.NamedNumber:
    """Names where a number may stand."""
    name = draw(node(tree.Name, text=st.sampled_from(_PLAIN), quoted=st.just(False)))
    sign = "-" if draw(st.booleans()) else ""
    return tree.NamedNumber(value=Fraction(0), text=sign + name.text, name=name, span=NOWHERE)


quantities = numbers() | named_numbers()
ranges = node(tree.ValueRange, low=quantities, high=quantities)
drawn = names | node(tree.DrawnFrom, name=names, within=ranges)
influences = node(tree.Influence, subsets=several(several(drawn)), metric=names)
references = node(tree.Reference, owner=st.none() | names, name=names)


def calls(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Calls, of rates with a condition too. `not (` always negates, so no function can be called `not`."""
    given = st.none() | inner | node(tree.Each, name=names)
    function = _names(without=("not",))
    return node(
        tree.Call,
        owner=st.none() | function,
        function=function,
        arguments=several(inner),
        given=given,
        along_paths=st.booleans(),
    )


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arithmetic = st.sampled_from("+-*/")
    relations = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    elements = several(value_names | numbers() | ranges)
    return st.one_of(
        # `not (` always negates, so no function can be called `not`.
        calls(inner),
        node(tree.OfModel, metric=_names(without=_PHRASES) | calls(inner), model=not_when),
        node(tree.Negative, operand=inner.filter(lambda e: not _bare_number(e))),
        node(tree.Arithmetic, operator=arithmetic, left=inner, right=inner),
        node(tree.Comparison, relation=relations, left=inner, right=inner),
        node(tree.Membership, value=inner, elements=elements, braced=st.just(True)),
        node(tree.Membership, value=inner, elements=several(ranges, most=1), braced=st.just(False)),
        node(tree.Negation, operand=inner),
        node(tree.Conjunction, parts=several(inner, least=2)),
        node(tree.Disjunction, parts=several(inner, least=2)),
    )


def _bare_number(expression: tree.Expression) -> bool:
    return isinstance(expression, tree.Number) and expression.text.startswith("-")


expressions = st.recursive(references | numbers() | texts | influences, _grown, max_leaves=8)

of_models = node(tree.OfModel, metric=_names(without=_PHRASES) | calls(expressions), model=not_when)
measured = names | influences | calls(expressions) | of_models

# ---- domains -----------------------------------------------------------------------------------

types = st.one_of(
    node(
        tree.CategoryType,
        entries=several(node(tree.CategoryEntry, name=value_names, code=st.none() | quantities), most=6),
    ),
    node(tree.IntegerType, low=quantities, high=quantities),
    node(tree.RealType, low=quantities, high=quantities),
    node(tree.RealType, low=st.none(), high=st.none()),
    node(tree.BooleanType),
)
bins = st.one_of(
    node(tree.BinsAt, edges=several(quantities)),
    node(tree.BinsByQuantiles, count=quantities),
    node(tree.BinsByModel),
)
#: `from when ""` is an outcome `from` and its condition.
formats = names.filter(lambda name: name.text != "when")
# A header can only be taken as it is stored where one is written.
attributes = node(
    tree.Attribute, doc=docs, name=names, type=types, column=st.none(), as_stored=st.just(False), bins=st.none() | bins
) | node(tree.Attribute, doc=docs, name=names, type=types, column=texts, bins=st.none() | bins)
cut = node(tree.BinsAt, edges=several(quantities)) | node(tree.BinsByQuantiles, count=quantities)
#: `= bins of` cuts what follows, at numbers that are still to come; `(bins of m)` is a metric `bins` of a model.
_uncut = expressions.filter(lambda written: not text_of(written).startswith("bins of"))
derived = node(tree.Derived, doc=docs, name=names, definition=_uncut | node(tree.BinsOf, of=expressions, bins=cut))
domains = node(
    tree.Domain,
    doc=docs,
    name=names,
    members=several(attributes | derived | node(tree.Where, condition=expressions), least=0),
)
labels = node(
    tree.Label,
    doc=docs,
    name=names,
    type=types,
    column=st.none() | texts,
    deserving=st.none() | value_names | numbers(),
)

#: `protected when influence of ...` protects an attribute `when`, and so do declarations and clauses like it.
_NAMING = ("condition", "distribution", "favourable", "of", "otherwise", "property", "protected")


def _decides(rule: tree.DecidesWhen) -> bool:
    of_something = re.match(r"\w+ of\b", text_of(rule.condition))
    return not (of_something and rule.outcome.text in _NAMING)


# ---- models and populations --------------------------------------------------------------------

sources = node(tree.From, format=st.none() | formats, path=texts, digest=st.none() | texts)
models = node(
    tree.Model,
    doc=docs,
    name=names,
    domain=names,
    outcomes=several(names),
    ordered=st.booleans(),
    clauses=several(
        st.one_of(
            sources,
            node(tree.ScoreFormula, formula=expressions),
            node(tree.DecidesWhen, outcome=outcomes, condition=expressions).filter(_decides),
            node(tree.DecidesByHighest),
            node(tree.Rule, begins=st.booleans(), outcome=names, condition=expressions),
            node(tree.Otherwise, outcome=not_when),
            node(tree.Favourable, outcome=not_when),
            node(tree.Reads, features=several(expressions)),
            node(tree.Agrees, column=texts, path=texts, digest=st.none() | texts, share=st.none() | quantities),
        ),
        least=0,
    ),
).filter(lambda model: not model.ordered or len(model.outcomes) > 1)
tables = node(
    tree.Table,
    entries=several(node(tree.TableEntry, value=value_names | numbers(), probability=quantities)),
)
families = node(tree.Family, name=names, parameters=several(quantities), truncated=st.booleans())
distributions = node(
    tree.Distribution,
    doc=docs,
    name=names,
    over=several(names),
    clauses=several(
        st.one_of(
            node(tree.Learn, structure=names),
            node(tree.Uniform),
            node(tree.Independent, given=several(names, least=0)),
            node(tree.Empirical, source=sources),
            sources,
            node(tree.Setting, name=names, value=numbers() | names | texts),
            node(tree.ColumnDistribution, variable=names, shape=tables | families, given=st.none() | expressions),
        ),
        least=0,
    ),
)
paths = node(tree.Path, names=several(names, least=2, most=4))
graphs = node(tree.Graph, doc=docs, name=names, paths=several(paths, least=0))

# ---- properties --------------------------------------------------------------------------------

each_values = several(value_names | numbers() | node(tree.NameSet, names=several(names)))
across = node(tree.AcrossClause, names=several(names))
under = node(tree.UnderClause, distribution=names, given=st.none())
clauses = st.one_of(
    node(tree.ForEachClause, variable=names, values=each_values, axis=st.none()),
    node(tree.ForEachClause, variable=names, values=st.just(()), axis=names),
    node(tree.CompareClause, names=several(names), domain=names),
    across,
    node(tree.ModelReference, name=names),
    node(tree.DifferClause, mode=st.none(), names=several(_names(without=("any", "each")), most=1)),
    node(tree.DifferClause, mode=st.none() | st.sampled_from(tree.DifferMode), names=several(names, least=2)),
    node(tree.ApartClause, by=quantities, name=names),
    node(tree.RegardlessClause, names=several(names)),
    node(tree.OtherwiseEqualClause),
    node(tree.AmongClause, condition=expressions),
    node(tree.StrataClause, names=several(names)),
    node(tree.WhenClause, condition=expressions),
    under,
    node(tree.ExcludingClause, rows=st.none(), of_all=st.just(False)),
    node(tree.ExcludingClause, rows=quantities, of_all=st.booleans()),
    node(tree.AllowClause, path=paths),
    node(tree.BaselineClause, group=expressions),
    node(tree.PrivilegedClause, group=expressions),
    node(
        tree.RequireClause,
        demand=expressions | node(tree.SameDecision),
        within=st.none() | quantities,
        confidence=st.none() | quantities,
    ),
    node(
        tree.MeasureClause,
        items=several(
            node(tree.MeasureItem, metric=measured, within=st.none(), confidence=st.none() | quantities)
            | node(tree.MeasureItem, metric=measured, within=quantities, confidence=st.none() | quantities)
        ),
    ),
)
properties = node(
    tree.Property, doc=docs, name=names, sentence=st.none() | texts, clauses=several(clauses, least=0, most=5)
)
metrics = node(tree.Metric, doc=docs, name=names, definition=expressions)
applied = node(tree.Apply, preset=names, model=names, across=across, under=under)
conditions = node(tree.NamedCondition, doc=docs, name=names, domain=st.none() | names, condition=expressions)

# ---- files -------------------------------------------------------------------------------------

_one = tree.Number(value=Fraction(1), text="1", percent=False, span=NOWHERE)
specs = node(
    tree.Spec,
    version=st.none() | node(tree.Version, number=st.just(_one)),
    audit=st.none() | node(tree.Audit, doc=docs, title=texts),
    items=several(
        st.one_of(
            node(tree.Use, path=texts),
            node(tree.Parameter, doc=docs, name=names, number=numbers()),
            domains,
            node(tree.Protected, names=several(not_when)),
            labels,
            models,
            distributions,
            graphs,
            conditions,
            metrics,
            properties,
            applied,
        ),
        least=0,
        most=4,
    ),
)
