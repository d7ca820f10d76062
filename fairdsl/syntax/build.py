"""From Lark's branches to the tree: declarations outside properties (which are in ``build_property``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lark import Token

from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.build_property import PropertyBuilder
from fairdsl.syntax.trivia import Trivia
from fairdsl.syntax.words import Branch, branches, tokens

__all__ = ["SpecBuilder"]


class SpecBuilder(PropertyBuilder):
    """Makes the tree of a file and hands each declaration the doc text written before it."""

    def __init__(self, trivia: Trivia, original: Sequence[int] | None = None) -> None:
        super().__init__(trivia.file, original)
        self._trivia = trivia

    def spec(self, branch: Branch) -> tree.Spec:
        """The whole file."""
        version: tree.Version | None = None
        audit: tree.Audit | None = None
        items: list[tree.Item] = []
        opening = self.span(branches(branch)[0]).start if branch.children else 0
        for child in branches(branch):
            if child.data == "version":
                version = self._version(child)
            elif child.data == "audit":
                # The document's text may stand above `fair 1`, which has no text of its own.
                doc = (self._trivia.claim_doc(opening) if version else ()) + self._doc(child)
                audit = tree.Audit(doc=doc, title=self.text(tokens(child, "STRING")[0]), span=self.span(child))
            else:
                items.append(self._item(child))
        return tree.Spec(
            version=version,
            audit=audit,
            items=tuple(items),
            comments=self._trivia.all_comments(),
            span=Span(self.file, 0, len(self.file.text)),
        )

    def _doc(self, branch: Branch) -> tuple[str, ...]:
        return self._trivia.claim_doc(self.span(branch).start)

    def _version(self, branch: Branch) -> tree.Version:
        return tree.Version(number=self.numbers(branch)[0], span=self.span(branch))

    def _item(self, branch: Branch) -> tree.Item:
        makers: dict[str, Callable[[Branch], tree.Item]] = {
            "use": self._use,
            "parameter": self._parameter,
            "domain": self._domain,
            "protected": self._protected,
            "label": self._label,
            "model": self._model,
            "distribution": self._distribution,
            "graph": self._graph,
            "named_condition": self._named_condition,
            "metric": self._metric,
            "property": self._property,
            "apply": self._apply,
        }
        return makers[str(branch.data)](branch)

    def _use(self, branch: Branch) -> tree.Use:
        return tree.Use(path=self.text(tokens(branch, "STRING")[0]), span=self.span(branch))

    def _parameter(self, branch: Branch) -> tree.Parameter:
        return tree.Parameter(
            doc=self._doc(branch),
            name=self.names(branch)[0],
            number=self.numbers(branch)[0],
            span=self.span(branch),
        )

    # ---- domains -------------------------------------------------------------------------------

    def _domain(self, branch: Branch) -> tree.Domain:
        doc = self._doc(branch)
        members = tuple(self._member(child) for child in branches(branch))
        return tree.Domain(doc=doc, name=self.names(branch)[0], members=members, span=self.span(branch))

    def _member(self, branch: Branch) -> tree.Attribute | tree.Where | tree.Derived:
        match branch.data:
            case "attribute":
                return self._attribute(branch)
            case "derived":
                (written,) = branches(branch)
                definition = self._bins_of(written) if written.data == "bins_of" else self.expression(written)
                name = self.names(branch)[0]
                return tree.Derived(doc=self._doc(branch), name=name, definition=definition, span=self.span(branch))
            case _:
                return tree.Where(condition=self.only_expression(branch), span=self.span(branch))

    def _bins_of(self, branch: Branch) -> tree.BinsOf:
        of, way = branches(branch)
        bins = self._bins_in(way, self.span(way))
        assert not isinstance(bins, tree.BinsByModel), "the grammar has no `bins of ... by model`"
        return tree.BinsOf(of=self.expression(of), bins=bins, span=self.span(branch))

    def _attribute(self, branch: Branch) -> tree.Attribute:
        type_, *rest = branches(branch)
        column = next((self._column(child) for child in rest if child.data == "column"), None)
        bins = next((self._bins(child) for child in rest if child.data == "bins"), None)
        return tree.Attribute(
            doc=self._doc(branch),
            name=self.name(tokens(branch, "ATTRIBUTE")[0]),
            type=self._type(type_),
            or_missing=any(child.data == "or_missing" for child in rest),
            column=column,
            as_stored=any(child.data == "stored" for child in rest),
            bins=bins,
            span=self.span(branch),
        )

    def _type(self, branch: Branch) -> tree.Type:
        span = self.span(branch)
        if branch.data == "boolean":
            return tree.BooleanType(span=span)
        if branch.data == "category":
            entries = tuple(self._category_entry(child) for child in branches(branch))
            return tree.CategoryType(entries=entries, span=span)
        bounds = self.numbers(branch)
        if branch.data == "integer":
            return tree.IntegerType(low=bounds[0], high=bounds[1], span=span)
        low, high = bounds or (None, None)
        return tree.RealType(low=low, high=high, span=span)

    def _category_entry(self, branch: Branch) -> tree.CategoryEntry:
        name = self.name(tokens(branch, "NAME", "STRING")[0])
        return tree.CategoryEntry(name=name, code=self.one_number(branch), span=self.span(branch))

    def _column(self, branch: Branch) -> tree.Text:
        return self.text(tokens(branch, "STRING")[0])

    def _bins(self, branch: Branch) -> tree.Bins:
        return self._bins_in(branches(branch)[0], self.span(branch))

    def _bins_in(self, way: Branch, span: Span) -> tree.Bins:
        if way.data == "bins_at":
            return tree.BinsAt(edges=self.numbers(way), span=span)
        if way.data == "bins_by_quantiles":
            return tree.BinsByQuantiles(count=self.numbers(way)[0], span=span)
        return tree.BinsByModel(span=span)

    def _protected(self, branch: Branch) -> tree.Protected:
        return tree.Protected(names=self.names(branch), span=self.span(branch))

    def _label(self, branch: Branch) -> tree.Label:
        type_, *further = branches(branch)
        parts = {part.data: part for part in further}
        return tree.Label(
            doc=self._doc(branch),
            name=self.names(branch)[0],
            type=self._type(type_),
            column=self._column(parts["column"]) if "column" in parts else None,
            deserving=self._deserving(parts["deserving"]) if "deserving" in parts else None,
            span=self.span(branch),
        )

    def _deserving(self, branch: Branch) -> tree.Name | tree.Number:
        word = tokens(branch, "NAME", "STRING")
        return self.name(word[0]) if word else self.numbers(branch)[0]

    # ---- models --------------------------------------------------------------------------------

    def _model(self, branch: Branch) -> tree.Model:
        name, domain = self.names(branch)
        outcomes, *clauses = branches(branch)
        return tree.Model(
            doc=self._doc(branch),
            name=name,
            domain=domain,
            outcomes=self.names(outcomes),
            ordered=bool(tokens(outcomes, "LT")),
            clauses=tuple(self._model_clause(child) for child in clauses),
            span=self.span(branch),
        )

    def _model_clause(self, branch: Branch) -> tree.ModelClause:
        span = self.span(branch)
        match branch.data:
            case "from":
                return self._from(branch)
            case "from_callable":
                return tree.FromCallable(span=span)
            case "score_formula":
                return tree.ScoreFormula(formula=self.only_expression(branch), span=span)
            case "decides_when":
                outcome = self.name(tokens(branch, "OUTCOME")[0])
                return tree.DecidesWhen(outcome=outcome, condition=self.only_expression(branch), span=span)
            case "decides_by_highest":
                return tree.DecidesByHighest(span=span)
            case "rule":
                begins = bool(tokens(branch, "FIRST"))
                condition = self.only_expression(branch)
                return tree.Rule(begins=begins, outcome=self.names(branch)[0], condition=condition, span=span)
            case "otherwise":
                return tree.Otherwise(outcome=self.names(branch)[0], span=span)
            case "favourable":
                return tree.Favourable(outcome=self.names(branch)[0], span=span)
            case "agrees":
                return self._agrees(branch)
        features = tuple(self.expression(child) for child in branches(branch))
        return tree.Reads(features=features, span=span)

    def _agrees(self, branch: Branch) -> tree.Agrees:
        column, path, *digests = (self.text(token) for token in tokens(branch, "STRING"))
        return tree.Agrees(
            column=column,
            path=path,
            digest=digests[0] if digests else None,
            share=self.one_number(branch),
            span=self.span(branch),
        )

    def _from(self, branch: Branch) -> tree.From:
        formats = self.names(branch)
        path, *digests = (self.text(token) for token in tokens(branch, "STRING"))
        return tree.From(
            format=formats[0] if formats else None,
            path=path,
            digest=digests[0] if digests else None,
            span=self.span(branch),
        )

    # ---- populations ---------------------------------------------------------------------------

    def _distribution(self, branch: Branch) -> tree.Distribution:
        over, *clauses = branches(branch)
        return tree.Distribution(
            doc=self._doc(branch),
            name=self.names(branch)[0],
            over=self.names(over),
            clauses=tuple(self._population_clause(child) for child in clauses),
            span=self.span(branch),
        )

    def _population_clause(self, branch: Branch) -> tree.DistributionClause:
        span = self.span(branch)
        match branch.data:
            case "learn":
                return tree.Learn(structure=self.names(branch)[0], span=span)
            case "uniform":
                return tree.Uniform(span=span)
            case "independent":
                return tree.Independent(given=self.names(branch), span=span)
            case "empirical":
                return tree.Empirical(source=self._from(branches(branch)[0]), span=span)
            case "from":
                return self._from(branch)
            case "setting":
                return self._setting(branch)
        return self._law(branch)

    def _setting(self, branch: Branch) -> tree.Setting:
        name, *value = tokens(branch, "NAME", "STRING")
        setting: tree.Number | tree.Name | tree.Text
        if not value:
            setting = self.numbers(branch)[0]
        else:
            setting = self.text(value[0]) if value[0].type == "STRING" else self.name(value[0])
        return tree.Setting(name=self.name(name), value=setting, span=self.span(branch))

    def _law(self, branch: Branch) -> tree.Law:
        law, *given = branches(branch)
        return tree.Law(
            variable=self.name(tokens(branch, "ATTRIBUTE")[0]),
            law=self._table(law) if law.data == "table" else self._family(law),
            given=self.expression(given[0]) if given else None,
            span=self.span(branch),
        )

    def _table(self, branch: Branch) -> tree.Table:
        entries = tuple(self._table_entry(child) for child in branches(branch))
        return tree.Table(entries=entries, span=self.span(branch))

    def _table_entry(self, branch: Branch) -> tree.TableEntry:
        first = branch.children[0]
        value = self.name(first) if isinstance(first, Token) else self.number(first)
        return tree.TableEntry(value=value, probability=self.numbers(branch)[-1], span=self.span(branch))

    def _family(self, branch: Branch) -> tree.Family:
        return tree.Family(
            name=self.names(branch)[0],
            parameters=self.numbers(branch),
            truncated=bool(tokens(branch, "TRUNCATED")),
            span=self.span(branch),
        )

    def _graph(self, branch: Branch) -> tree.Graph:
        return tree.Graph(
            doc=self._doc(branch),
            name=self.names(branch)[0],
            paths=tuple(self.path(child) for child in branches(branch)),
            span=self.span(branch),
        )

    # ---- targets and properties ----------------------------------------------------------------

    def _named_condition(self, branch: Branch) -> tree.NamedCondition:
        name, *domain = self.names(branch)
        return tree.NamedCondition(
            doc=self._doc(branch),
            name=name,
            domain=domain[0] if domain else None,
            condition=self.only_expression(branch),
            span=self.span(branch),
        )

    def _metric(self, branch: Branch) -> tree.Metric:
        return tree.Metric(
            doc=self._doc(branch),
            name=self.names(branch)[0],
            definition=self.only_expression(branch),
            span=self.span(branch),
        )

    def _property(self, branch: Branch) -> tree.Property:
        sentence = tokens(branch, "STRING")
        return tree.Property(
            doc=self._doc(branch),
            name=self.names(branch)[0],
            sentence=self.text(sentence[0]) if sentence else None,
            clauses=tuple(self.clause(child) for child in branches(branch)),
            span=self.span(branch),
        )

    def _apply(self, branch: Branch) -> tree.Apply:
        across, under = map(self.clause, branches(branch))
        assert isinstance(across, tree.AcrossClause), "the grammar has it first"
        assert isinstance(under, tree.UnderClause), "the grammar has it last"
        preset, model = self.names(branch)
        return tree.Apply(preset=preset, model=model, across=across, under=under, span=self.span(branch))
