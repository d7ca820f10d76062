"""What commands write with ``--json``: one object to standard output, also where the spec has mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

import fairdsl
from fairdsl.cli.guard import code_of, write_whole
from fairdsl.diagnostics import DiagnosticError
from fairdsl.diagnostics.json import diagnostics_to_json

__all__ = ["headed", "mistakes_as_json", "write_json"]


def write_json(document: Mapping[str, Any]) -> None:
    """The document to standard output."""
    write_whole(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def headed(schema: str, written: Mapping[str, Any]) -> dict[str, Any]:
    """A document that begins with its schema and our version."""
    return {"schema": schema, "fairdsl": fairdsl.__version__, **written}


@contextmanager
def mistakes_as_json(ctx: click.Context, schema: str, as_json: bool) -> Iterator[None]:
    """Where JSON was asked for, mistakes that end the command are a document of the schema; else they go on."""
    try:
        yield
    except DiagnosticError as error:
        if not as_json:
            raise
        write_json(headed(schema, {"diagnostics": diagnostics_to_json(error.diagnostics)}))
        ctx.exit(code_of(error.diagnostics))
