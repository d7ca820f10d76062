"""The pages of reference that the code makes: grammar, forms, metrics, presets, codes, commands, functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby

import click
from modules import modules_page

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.diagnostics import CODES
from fairdsl.ir.metric import Metric
from fairdsl.metrics.described import needs_of
from fairdsl.prelude import PAIR_METRICS, metrics
from fairdsl.prelude.presets import preset_names, preset_text
from fairdsl.resources import grammar_file, text_of
from fairdsl.syntax import tree

__all__ = ["pages"]

#: As many as a page shows beside its two columns of links.
_COLUMNS = 80


def pages() -> dict[str, str]:
    """Each page by its path."""
    return {
        "docs/reference/grammar.md": _page("Grammar", _grammar()),
        "docs/reference/forms.md": _page("Forms", _forms()),
        "docs/reference/metrics.md": _page("Metrics", _metrics()),
        "docs/reference/presets.md": _page("Presets", _presets()),
        "docs/reference/commands.md": _page("Commands", _commands()),
        "docs/reference/functions.md": _page("Functions", _functions()),
        "docs/reference/modules.md": modules_page(),
        "docs/errors/README.md": _page("Error codes", _codes()),
    }


def _page(title: str, parts: Iterator[str]) -> str:
    return "\n\n".join((f"# {title}", *parts)) + "\n"


def _grammar() -> Iterator[str]:
    """The file itself, by its sections."""
    yield "The language's one grammar, from which the parser, completion and colours are made (`grammar/fair.lark`)."
    for part in re.split(r"^// ---- (.*?) -+$", text_of(grammar_file("fair.lark")), flags=re.MULTILINE):
        if "\n" in part:
            yield f"```text\n{part.strip()}\n```"
        else:
            yield f"## {part.strip().capitalize()}"


def _forms() -> Iterator[str]:
    """Every class of the tree that has a form of its own."""
    yield (
        "How each part of a spec is written: `<field>` is what a field holds, `[...]` what may be left out, and "
        "`[?flag ...]` what is written where something is so."
    )
    kinds = [each for each in vars(tree).values() if isinstance(each, type) and issubclass(each, tree.Node)]
    for module, group in groupby(sorted(kinds, key=lambda kind: kind.__module__), key=lambda kind: kind.__module__):
        yield f"## {module.rpartition('.')[2].capitalize()}"
        for kind in group:
            if kind.FORM.text:
                yield f"### {_words(kind.__name__)}"
                yield _as_markdown(inspect.getdoc(kind) or "")
                yield f"```text\n{kind.FORM.text}\n```"
                if kind.FORM.example:
                    yield f"```fair\n{kind.FORM.example}\n```"


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _metrics() -> Iterator[str]:
    yield "Every metric that a spec may name. The language has terms for [metrics in your own words](../language.md)."
    for metric in (*PAIR_METRICS.values(), *metrics()):
        yield f"## `{metric.name}`" + (" beside `privileged`" if isinstance(metric, Metric) and metric.signed else "")
        if isinstance(metric, Metric):
            yield metric.in_words()
            yield f"`{metric.definition}`, which is {metric.formula()}" + (
                "" if metric.ideal is None else f"; at best {metric.ideal}"
            )
            names = [
                f"`{each.name}`" + (f" of {each.library.value}" if each.library else "") for each in metric.aliases
            ]
            if names:
                yield f"Also {', '.join(names)}."
        else:
            yield metric.meaning
        yield f"Needs {'; '.join(needs_of(metric))}."


def _presets() -> Iterator[str]:
    for name in preset_names():
        yield f"## `{name}`"
        yield f"```text\n{preset_text(name).strip()}\n```"


def _codes() -> Iterator[str]:
    yield "Every diagnostic has a code and a page; `fairdsl explain E0203` prints it."
    rows = (f"| [{code}]({code}.md) | {meaning} |" for code, meaning in CODES.items())
    yield "\n".join(("| code | means |", "| --- | --- |", *rows))


def _commands() -> Iterator[str]:
    context = click.Context(cli, info_name="fairdsl", terminal_width=_COLUMNS, max_content_width=_COLUMNS)
    yield f"```text\n{cli.get_help(context)}\n```"
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        own = click.Context(
            command, info_name=name, parent=context, terminal_width=_COLUMNS, max_content_width=_COLUMNS
        )
        yield f"## `fairdsl {name}`"
        yield f"```text\n{command.get_help(own)}\n```"


def _functions() -> Iterator[str]:
    yield "What `import fairdsl` offers. [The page about Python](../python.md) shows how they are used together."
    for name in fairdsl.__all__:
        function = getattr(fairdsl, name)
        if inspect.isfunction(function):
            yield f"## `{name}`"
            yield f"```python\n{name}{inspect.signature(function)}\n```"
            yield _as_markdown(inspect.getdoc(function) or "")


def _as_markdown(text: str) -> str:
    """A docstring: double quotes of code are single ones here, and lists of arguments are lists."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text).replace("``", "`")
    text = re.sub(r"^(Args|Returns|Raises|Yields):$", r"\n**\1**\n", text, flags=re.MULTILINE)
    text = re.sub(r"^ {4}(\w+): ", r"- `\1`: ", text, flags=re.MULTILINE)
    return re.sub(r"^ {4,8}(?=\S)", "  ", text, flags=re.MULTILINE)
