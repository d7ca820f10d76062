"""``fairdsl lsp``: the language server for editors."""

from __future__ import annotations

import click


@click.command("lsp")
def command() -> None:
    """Answer an editor on standard input and output (Language Server Protocol).

    Editors start it by themselves; docs/editors.md says how. It needs `pip install 'fairdsl[lsp]'`.
    """
    try:
        from fairdsl.lsp.server import serve
    except ImportError as problem:
        lacking = (problem.name or "pygls").partition(".")[0]
        raise click.UsageError(f"the language server needs `{lacking}`: `pip install 'fairdsl[lsp]'`") from problem
    serve()
