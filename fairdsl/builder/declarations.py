"""Domains, labels and models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath

from fairdsl.builder.words import Number, Texts, clauses, line, listed, name, number, quoted, several, value
from fairdsl.dataframes.errors import not_usable
from fairdsl.diagnostics import DiagnosticError


@dataclass(frozen=True, slots=True)
class Quantiles:
    """``bins by quantiles 4``: as many groups of one size."""

    count: int


@dataclass(frozen=True, kw_only=True)
class Column:
    """What all types of columns have in common."""

    #: The header in the data, where it is another one than the name.
    column: str | None = None
    #: Whether people may lack a value.
    or_missing: bool = False
    #: Whether the data have the numbers that the file of the model reads.
    as_stored: bool = False
    #: The edges of the groups that numbers make, or :class:`Quantiles`; ``"model"``: the thresholds of the model.
    bins: Sequence[Number] | Quantiles | str | None = None

    @property
    def kind(self) -> str:
        """The type as the language writes it."""
        raise TypeError("a column is a Category, Integer, Real or Boolean")

    def declared(self, called: str) -> str:
        """The whole declaration."""
        parts = [f"{name(called, 'a column')} : {self.kind}"]
        parts += ["or missing"] * self.or_missing
        if self.column is not None:
            parts.append(f"column {quoted(self.column, f'the header of `{called}`')}")
        parts += ["as_stored"] * self.as_stored
        match self.bins:
            case None:
                pass
            case Quantiles(count):
                parts.append(f"bins by quantiles {count}")
            case str() as edge:  # asked after its type: an array would be compared edge by edge
                parts.append("bins by model" if edge == "model" else f"bins at {edge}")
            case edges:
                parts.append(f"bins at {', '.join(number(edge, f'an edge of `{called}`') for edge in edges)}")
        return " ".join(parts)


@dataclass(frozen=True)
class Category(Column):
    """A column of names: ``Category(["female", "male"])``, or with the codes that the model reads, ``{"none": 0}``."""

    #: The names in their order, or their codes.
    values: Sequence[str] | Mapping[str, int]

    @property
    def kind(self) -> str:
        """``category { female, male }``."""
        coded = self.values if isinstance(self.values, Mapping) else dict.fromkeys(several(self.values, "a value"))
        entries = (value(each, "a value") + ("" if code is None else f" = {code}") for each, code in coded.items())
        return f"category {{ {', '.join(entries)} }}"


@dataclass(frozen=True)
class Integer(Column):
    """A column of whole numbers, both ends included."""

    low: Number
    high: Number

    @property
    def kind(self) -> str:
        """``integer 0 .. 80``."""
        return f"integer {number(self.low, 'an end')} .. {number(self.high, 'an end')}"


@dataclass(frozen=True)
class Real(Column):
    """A column of numbers, both ends included; without ends it is unbounded."""

    low: Number | None = None
    high: Number | None = None

    @property
    def kind(self) -> str:
        """``real 0 .. 1``."""
        if self.low is None and self.high is None:
            return "real"
        if self.low is None or self.high is None:
            help_text = 'give both ends, or none, and a condition of the domain: `where=["income >= 0"]`'
            raise DiagnosticError(not_usable("a column of numbers", "it has one end", help_text))
        return f"real {number(self.low, 'an end')} .. {number(self.high, 'an end')}"


@dataclass(frozen=True)
class Boolean(Column):
    """A column of no and yes."""

    @property
    def kind(self) -> str:
        """``boolean``."""
        return "boolean"


@dataclass(frozen=True)
class Domain:
    """Who can exist: the columns, and conditions that everybody meets."""

    name: str
    columns: Mapping[str, Column]
    #: Conditions that hold of everybody, ``"employment_years + 16 <= age"``.
    where: Texts = ()
    #: What follows from the columns, by name: ``{"senior": "age >= 62"}``.
    derived: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        yield f"domain {name(self.name, 'a domain')} {{"
        yield from (f"  {column.declared(called)}" for called, column in self.columns.items())
        yield from (f"  derived {name(called, 'what is derived')} = {text}" for called, text in self.derived.items())
        yield from clauses("where", self.where, "`where`")
        yield "}"


@dataclass(frozen=True)
class Protected:
    """The columns that the audit is about."""

    names: Texts

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        yield f"protected {listed(self.names, 'what is protected')}"


@dataclass(frozen=True)
class Label:
    """What became of people, or would have been right; no input of the model."""

    name: str
    column: Column
    #: The value of those who deserve the favourable outcome; of a boolean ``True`` or ``False``.
    deserving: str | int | bool | None = None

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        match self.deserving:
            case None:
                end = ""
            case bool():
                end = f" deserving {'yes' if self.deserving else 'no'}"
            case str():
                end = f" deserving {value(self.deserving, 'who deserves')}"
            case code:
                end = f" deserving {number(code, 'who deserves')}"
        yield f"label {self.column.declared(self.name)}{end}"


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model: whom it decides about, between what, and by what.

    Without a ``source`` and a ``score`` the conditions in ``decides`` are rules over the columns.
    """

    name: str
    domain: str
    outcomes: Sequence[str]
    #: The file; ``"callable"``: a Python function that is given when the spec is checked.
    source: str | PathLike[str] | None = None
    #: A word for the file's format, where its name does not say it: ``"onnx"``, ``"xgboost"``.
    format: str | None = None
    #: The digest that the file must have.
    sha256: str | None = None
    #: A formula over the columns.
    score: str | None = None
    #: What the file reads, in its order: ``["sex", "one_hot(job)", "income / 100"]``.
    reads: Texts = ()
    #: When an outcome is decided: ``{"grant": "class = 1"}``; ``None``: by the highest of several scores.
    decides: Mapping[str, str] | None = None
    #: The better one of two outcomes, or the best.
    favourable: str | None = None
    #: Whether the outcomes are written from the worst to the best.
    ordered: bool = False
    #: Further clauses, as the language writes them.
    clauses: Texts = ()

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        outcomes = (" < " if self.ordered else ", ").join(name(each, "an outcome") for each in self.outcomes)
        yield f"model {name(self.name, 'a model')} : {name(self.domain, 'a domain')} -> {{ {outcomes} }}"
        if self.source == "callable":
            yield "  from callable"
        elif self.source is not None:
            form = f"{self.format} " if self.format else ""
            digest = f" sha256 {quoted(self.sha256, 'a digest')}" if self.sha256 else ""
            yield f"  from {form}{quoted(fspath(self.source), 'the path of the model')}{digest}"
        yield from line("score =", self.score or "", self.score)
        yield from line("reads", ", ".join(several(self.reads, "`reads`")), self.reads)
        yield from (f"  {name(outcome, 'an outcome')} when {text}" for outcome, text in (self.decides or {}).items())
        yield from line("decide", "by highest score", self.decides is None and not self.clauses)
        yield from line("favourable", self.favourable or "", self.favourable)
        yield from clauses("", self.clauses, "a clause")
