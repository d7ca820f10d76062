"""Documents of rules: their conditions, read by the language's parser and resolved in the model's domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fairdsl.codec.placed import PlacedText
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.ir.declaration import ByRules, FileSource, ModelDeclaration
from fairdsl.models.rules_file import DocumentRule, holds_rules, read_rules
from fairdsl.semantics.checked import CheckedModel
from fairdsl.semantics.errors import rules_beside
from fairdsl.semantics.models.rules import RuleScope, WrittenRule, resolve_rules
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.words import Branch


def with_rules(
    checked: CheckedModel, override_path: str | None, labels: Mapping[str, Span], reporter: Reporter
) -> ModelDeclaration:
    """The model's declaration, with the rules of its document where its file is one; warnings go to ``reporter``.

    Raises DiagnosticError with everything that is wrong with the document, each at its place in it.
    """
    declaration, source = checked.declaration, checked.declaration.source
    if not isinstance(source, FileSource):
        return declaration
    path = override_path or source.path
    if not holds_rules(source, path):
        return declaration
    _check_alone(declaration, source)
    document = read_rules(source, path)
    scope = RuleScope(model=declaration.name, outcomes=declaration.outcomes, domain=checked.domain, labels=labels)
    found = Reporter()
    known: dict[str, Branch] = {}
    written = [_written(rule, known, found) for rule in document.rules]
    rules = resolve_rules(written, _name(document.otherwise), scope, found, document.span)
    # A correction would be a part of the spec; what it is in a document depends on how that escapes.
    findings = [replace(finding, fix=None) for finding in found]
    if rules is None or found.has_errors:
        raise DiagnosticError(*findings)
    reporter.extend(findings)
    return replace(declaration, source=replace(rules, sha256=document.sha256))


def _check_alone(declaration: ModelDeclaration, source: FileSource) -> None:
    """A document of rules names the outcomes itself, and reads attributes by their names."""
    problems: list[Diagnostic] = []
    if not isinstance(declaration.decision, ByRules):
        problems.append(rules_beside(declaration.name, "a decision rule", declaration.decision.span, source.span))
    if declaration.reads is not None:
        place = declaration.reads_spans[0] if declaration.reads_spans else source.span
        problems.append(rules_beside(declaration.name, "a `reads` clause", place, source.span))
    if problems:
        raise DiagnosticError(*problems)


def _name(text: PlacedText) -> tree.Name:
    inside = Span(text.span.file, text.span.start + 1, text.span.end - 1)
    return tree.Name(text=text.value, span=inside if text.value else text.span)


def _written(rule: DocumentRule, known: dict[str, Branch], reporter: Reporter) -> WrittenRule:
    """The rule as the spec would have it; without a condition where it has none that can be read."""
    groups = [[_parsed(text, known, reporter) for text in group] for group in rule.groups]
    inner, outer = (tree.Conjunction, tree.Disjunction) if rule.some_group else (tree.Disjunction, tree.Conjunction)
    parts: list[tree.Expression] = []
    for group, written in zip(groups, rule.groups, strict=True):
        found = [part for part in group if part is not None]
        if len(found) == len(group):
            parts.append(_joined(inner, found, written[0].span.to(written[-1].span)))
    condition = _joined(outer, parts, rule.span) if len(parts) == len(groups) else None
    return WrittenRule(outcome=_name(rule.outcome), condition=condition, span=rule.span)


def _parsed(text: PlacedText, known: dict[str, Branch], reporter: Reporter) -> tree.Expression | None:
    from fairdsl.syntax.condition import parse_condition  # what is wrong with a text is not loaded for a spec without

    found = parse_condition(text.value, text.span, text.offsets, known)
    if isinstance(found, Diagnostic):
        reporter.report(found)
        return None
    return found


def _joined(
    kind: type[tree.Conjunction] | type[tree.Disjunction], parts: Sequence[tree.Expression], span: Span
) -> tree.Expression:
    return parts[0] if len(parts) == 1 else kind(parts=tuple(parts), span=span)
